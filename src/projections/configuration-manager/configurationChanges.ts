import {
  type ChangeRow,
  type ConfigurationChangeEvent,
  configurationChange,
  noRows,
  type RowStatus,
} from '../../domain/configuration-manager/configurationChanges.ts';
import { childrenOf, idOf, projection } from '../engine/define.ts';
import { documentGuard } from '../engine/guards.ts';
import { jobs } from '../operations-manager/jobs.ts';

/** A change of many devices. `totals`: how many devices have each status. */
export type ConfigurationChangeDoc = {
  readonly _id: string;
  readonly started: string;
  readonly finished: string | null;
  readonly totals: Readonly<Record<RowStatus, number>>;
};

/** The rows of all changes of many devices; each change has a part of its own. */
export const changeRows = childrenOf<ChangeRow, ConfigurationChangeEvent>()({
  collection: 'changeRows',
  on: {
    configurationChangeStarted: ({ data }) => ({
      put: data.devices.map((device) => [device, { device, status: 'waiting' }]),
    }),
    configurationChangeReported: ({ data }) => ({ put: data.rows.map(({ was: _, ...row }) => [row.device, row]) }),
  },
  sorts: { device: ({ device }) => device },
  filters: { status: ({ status }) => status },
});

const totalsAfter = (
  totals: ConfigurationChangeDoc['totals'],
  rows: readonly { readonly was: RowStatus; readonly status: RowStatus }[],
): ConfigurationChangeDoc['totals'] => {
  const after = { ...totals };
  for (const { was, status } of rows) {
    after[was]--;
    after[status]++;
  }
  return after;
};

/** Changes of many devices. A change is read by who may read its job. */
export const configurationChanges = projection<ConfigurationChangeDoc>()(configurationChange, {
  collection: 'configurationChanges',
  on: {
    configurationChangeStarted: (_, event) => ({
      _id: idOf(event),
      started: event.metadata.at,
      finished: null,
      totals: { ...noRows, waiting: event.data.devices.length },
    }),
    configurationChangeTriedOut: (doc) => doc,
    configurationChangeReported: (doc, { data: { rows } }) => doc && { ...doc, totals: totalsAfter(doc.totals, rows) },
    configurationChangeEnded: (doc, { metadata: { at } }) => doc && { ...doc, finished: at },
  },
  retires: { ended: ({ finished }) => finished ?? undefined, from: 'started' },
  guard: ({ _id }) => documentGuard(jobs, _id),
  sorts: { started: ({ started }) => started },
  filters: {},
  children: changeRows,
});
