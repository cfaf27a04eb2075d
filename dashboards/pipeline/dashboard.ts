import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { houseDashboard } from '../house/dashboard.ts';
import { GATEWAY } from '../house/variables.ts';
import { DASHBOARDS } from '../uids.ts';
import * as panels from './panels.ts';
import * as evaluation from './panels-evaluation.ts';

/** Can the other dashboards be trusted? */
export function pipelineDashboard(): Dashboard {
  return houseDashboard({
    ...DASHBOARDS.pipeline,
    description:
      'Can the other dashboards be trusted? How fresh what we know is, whether collectors and polls ' +
      'keep up, what was refused, whether alert rules are evaluated, and how much is stored.',
    variables: [GATEWAY],
    rows: [
      {
        key: 'row-fresh',
        title: 'Freshness',
        panels: [panels.watermarkLag, panels.arrivalDelay],
      },
      {
        key: 'row-polls',
        title: 'Polls',
        panels: [
          panels.pollsPerMinute,
          panels.pollLateness,
          panels.watched,
          panels.pollBudget,
          panels.pollBudgets,
        ],
      },
      {
        key: 'row-input',
        title: 'Input',
        panels: [panels.consumerLag, panels.duplicates, panels.rejects, panels.newestRejects],
      },
      {
        key: 'row-evaluation',
        title: 'Evaluation of alert rules',
        panels: [evaluation.evaluationAge, evaluation.evaluationPasses],
      },
      {
        key: 'row-collectors',
        title: 'Collectors and store',
        panels: [panels.collectors, panels.storeSize, panels.memory, panels.spanBacklog],
      },
    ],
  });
}
