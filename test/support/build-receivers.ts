/**
 * `npm run build:receivers`: builds what receives our spans in tests, so that no test waits for it. Says
 * which cannot be built; with `GATEWATCH_REQUIRE_GO=1` the exit code is 1 then.
 */
import { buildJaeger } from './jaeger.ts';
import { buildOtelcol } from './otelcol.ts';

for (const build of [buildOtelcol, buildJaeger]) {
  const program = await build();
  if ('path' in program) continue;
  console.error(program.reason);
  if (process.env['GATEWATCH_REQUIRE_GO'] === '1') process.exitCode = 1;
}
