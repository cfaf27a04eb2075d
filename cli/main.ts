#!/usr/bin/env -S node --max-semi-space-size=8
const NEEDED = 24;
if (Number.parseInt(process.versions.node) < NEEDED) {
  console.error(`gatewatch needs Node ${NEEDED} or newer, and this is Node ${process.versions.node}.`);
  process.exit(2);
}
// Loaded only now: an older Node fails on its way with a message that nobody understands.
const { runCli } = await import('./program.ts');
const { createHost } = await import('./terminal/host.ts');

const host = createHost(process);
await host.exit(await runCli(process.argv.slice(2), host));
