import type { Command } from 'commander';
import type { MigrationPlan } from '../../store/migrate.ts';
import { EXIT, printJson, type CommandContext, type GlobalOptions } from '../command-context.ts';
import { progressOn, withProgress } from '../terminal/progress.ts';

interface MigrateOptions extends GlobalOptions {
  readonly dryRun?: true;
  readonly json?: true;
  readonly grants?: true;
  readonly gateway?: readonly string[];
}

const HELP = `
Makes the database, its tables and views, and brings the time that rows are kept to what is configured. 'gatewatch run'
does the same when it starts; run it apart when another user than the collector's may change tables. Safe to repeat and to
run from several places at once.

Examples:
  $ gatewatch migrate --dry-run               print the statements, change nothing
  $ gatewatch migrate --config gatewatch.yaml
  $ gatewatch migrate --grants --gateway acme-eu --dry-run   roles, grants and row policies for a server, as SQL`;

export function addMigrate(program: Command, context: CommandContext): void {
  program
    .command('migrate')
    .description('bring the tables and views of the store up to date')
    .option('--dry-run', 'print the statements that would run, and run none')
    .option('--grants', 'make roles with the least that each needs, on a server, instead of tables and views')
    .option('--gateway <name...>', 'with --grants: a role for analysts who see this gateway alone')
    .option('--json', 'steps and statements as one JSON object')
    .addHelpText('after', HELP)
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<MigrateOptions>();
      await (options.grants === true ? grant(context, options) : migrate(context, options));
      context.exitCode = EXIT.done;
    });
}

async function migrate({ host }: CommandContext, options: MigrateOptions): Promise<void> {
  const { loadStoreConfig } = await import('../../collector/config/load.ts');
  const { openStore, schemaMigrator } = await import('../../store/open.ts');
  const config = loadStoreConfig(options.config, host.env);
  const opened = await openStore(config, { embedded: 'create', progress: progressOn(host) });
  try {
    const migrator = schemaMigrator(opened.store, config.retention);
    const work = options.dryRun === true ? migrator.plan() : migrator.run();
    const plan = await withProgress(host, 'migrating', work);
    if (options.json === true) await printJson(host, { dryRun: options.dryRun === true, ...plan });
    else await host.stdout.write(options.dryRun === true ? statementsOf(plan) : '');
    await host.stderr.write(`${summary(plan, options.dryRun === true)}\n`);
  } finally {
    await opened.close();
  }
}

/**
 * Writes roles, grants and row policies down, or makes them. Needs a user of the server that may manage
 * access.
 */
async function grant({ host }: CommandContext, options: MigrateOptions): Promise<void> {
  const { GatewatchError } = await import('../../schemas/errors.ts');
  const { loadStoreConfig } = await import('../../collector/config/load.ts');
  const { grantStatements } = await import('../../store/grants.ts');
  const { schemaStatements } = await import('../../store/migrate.ts');
  const { DATABASE } = await import('../../schemas/names.ts');
  const config = loadStoreConfig(options.config, host.env);
  const statements = grantStatements(await schemaStatements(), {
    database: config.clickhouse?.database ?? DATABASE,
    gateways: [...new Set(options.gateway)],
  });
  const dryRun = options.dryRun === true;
  if (!dryRun && config.clickhouse === undefined)
    throw new GatewatchError(
      'The embedded store keeps no roles: it has one writer and one reader. Roles are for a server: set clickhouse.url, or see them with --dry-run.',
      { code: 'usage' },
    );
  if (!dryRun) {
    const { openStore } = await import('../../store/open.ts');
    const opened = await openStore(config, { progress: progressOn(host) });
    try {
      for (const statement of statements) await opened.store.command(statement, { database: '' });
    } finally {
      await opened.close();
    }
  }
  if (options.json === true) await printJson(host, { dryRun, statements });
  else if (dryRun) await host.stdout.write(statements.map((text) => `${text};\n`).join(''));
  await host.stderr.write(
    dryRun ? 'Nothing was changed.\n' : 'Done. Give the roles to users: GRANT gatewatch_collector TO ...\n',
  );
}

/** A script that another client could run. */
function statementsOf(plan: MigrationPlan): string {
  return plan.steps
    .map(({ title, statements }) => `-- ${title}\n${statements.map((text) => `${text};\n`).join('\n')}`)
    .join('\n');
}

function summary(plan: MigrationPlan, dryRun: boolean): string {
  if (plan.steps.length === 0) return 'The store is up to date.';
  const titles = plan.steps.map((step) => step.title).join(', ');
  return dryRun ? `Would run: ${titles}. Nothing was changed.` : `Done: ${titles}.`;
}
