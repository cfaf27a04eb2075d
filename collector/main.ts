#!/usr/bin/env node
import { runCli } from './commands/cli.ts';
import { createHost } from './commands/host.ts';

const host = createHost(process);
await host.exit(await runCli(process.argv.slice(2), host));
