#!/usr/bin/env -S node --max-semi-space-size=8
import { runCli } from './program.ts';
import { createHost } from './terminal/host.ts';

const host = createHost(process);
await host.exit(await runCli(process.argv.slice(2), host));
