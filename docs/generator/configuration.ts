import { SETTING_DOCS, VARIABLE_DOCS } from './config-docs.ts';
import { code, GENERATED, page, table } from './markdown.ts';
import { settings, type Setting } from './settings.ts';

/** docs/reference/configuration.md: every key of the file and every variable. */
export function configurationPage(): string {
  return page(
    '# Configuration',
    GENERATED,
    'One YAML file, named by `--config` or `GATEWATCH_CONFIG`. For one gateway the environment is enough; variables are laid over ' +
      'the file and win. The configuration is read at the start, and on SIGHUP for its secrets and certificates; all its problems are reported together, each with ' +
      'key, received and expected. Units are part of the names: `S` seconds, `Ms` milliseconds, `H` hours, `Days` days.',
    'In any text of the file `${NAME}` is filled in from the environment and `${file:PATH}` from a file (one newline at its end is ' +
      'cut). A variable that is not set, or a file that cannot be read, is an error, never an empty value. Values of secrets are ' +
      'never printed.',
    '## Settings',
    table(
      ['Key', 'Kind', 'Default', 'Meaning'],
      settings().map((setting) => [
        code(setting.path),
        setting.kind,
        defaultOf(setting),
        SETTING_DOCS[setting.path] ?? '',
      ]),
    ),
    '## Variables',
    'A variable that is set to nothing counts as not set. Each of them also exists with `_FILE` at its end and names a file that ' +
      'holds the value (`GATEWATCH_GATEWAY_TOKEN_FILE`), except `GATEWATCH_CONFIG`. The variables of the gateway work with one gateway only; ' +
      'with several, use the file.',
    table(
      ['Variable', 'Setting', 'Note'],
      Object.entries(VARIABLE_DOCS).map(([name, doc]) => [code(name), code(doc.setting), doc.text]),
    ),
    'Telemetry follows the standard variables of OpenTelemetry: `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` ' +
      'switches the export of payment spans on, `OTEL_EXPORTER_OTLP_HEADERS` adds headers, `OTEL_SERVICE_NAME` and ' +
      '`OTEL_RESOURCE_ATTRIBUTES` describe the sender, `OTEL_TRACES_EXPORTER=none` and `OTEL_SDK_DISABLED=true` switch it off.',
  );
}

function defaultOf(setting: Setting): string {
  if (setting.required) return 'required';
  return setting.fallback === undefined ? '' : code(setting.fallback);
}
