import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { houseDashboard } from '../house/dashboard.ts';
import { CHANNEL, GATEWAY, ORDER_TYPE, STAGE } from '../house/variables.ts';
import { DASHBOARDS } from '../uids.ts';
import * as panels from './panels.ts';

/** Which gateway, at which stage, and whose fault? */
export function gatewaysDashboard(): Dashboard {
  return houseDashboard({
    ...DASHBOARDS.gateways,
    description:
      'Which gateway fails, at which stage, and on whose side? Rate, failures and durations first; ' +
      "then ours beside theirs: our requests beside the gateway's own TECH and AUTHZ codes, our " +
      'signature verdicts beside 5.2.2.16.',
    variables: [GATEWAY, ORDER_TYPE, CHANNEL, STAGE],
    rows: [
      {
        key: 'row-stages',
        title: 'Rate, failures, durations',
        panels: [panels.stages, panels.stageFailures, panels.stageDurations],
      },
      {
        key: 'row-requests',
        title: 'Requests: ours and theirs',
        panels: [panels.pollOutcomes, panels.theirFaults, panels.pollFailures, panels.pollDurations],
      },
      {
        key: 'row-callbacks',
        title: 'Callbacks: ours and theirs',
        panels: [panels.signatureVerdicts, panels.theirCallbackFaults, panels.signatureCauses],
      },
      {
        key: 'row-findings',
        title: 'Contradictions between sources',
        panels: [panels.findings, panels.newestFindings],
      },
    ],
  });
}
