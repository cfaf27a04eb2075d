/** An owner of a store in a process of its own, for tests that kill it. */
import { startEmbeddedStore } from '../../../store/embedded/store.ts';

const [dataDir = ''] = process.argv.slice(2);
const store = await startEmbeddedStore({ dataDir, port: 0 });
process.send?.({ pid: store.pid, url: store.url, password: store.writer.password });
