import { randomUUID } from 'node:crypto';
import type { Handle } from '../../commands/engine/handle.ts';
import { setSchedule } from '../../commands/operations-manager/triggerSchedules.ts';
import { platform } from '../../domain/engine/core.ts';
import { documentIn, documentsOf, pagesOf } from '../../projections/engine/documents.ts';
import type { ReadStore } from '../../projections/engine/port.ts';
import {
  type PlanDoc,
  schedulePlans,
  triggerSchedules,
} from '../../projections/operations-manager/triggerSchedules.ts';

type Needs = { readonly model: Pick<ReadStore, 'list' | 'getMany'>; readonly handle: Handle };

/** Begins all schedules that an earlier version has stored, which did not run them. */
export const beginAll = async (begun: number, { model, handle }: Needs): Promise<void> => {
  const begin = async ({ trigger: id, cause }: PlanDoc): Promise<void> => {
    const input = { begun, cause };
    const about = { operation: setSchedule.name, requestId: randomUUID(), causation: cause };
    await handle(setSchedule, { id, input, actor: platform, ...about });
  };
  for await (const entries of pagesOf(model, schedulePlans, { sort: 'trigger', order: 1 })) {
    const plans = entries.map((entry) => documentIn(schedulePlans, entry));
    const begun = await documentsOf(
      model,
      triggerSchedules,
      plans.map(({ trigger }) => trigger),
    );
    const known = new Set(begun.map(({ trigger }) => trigger));
    await Promise.all(plans.filter(({ trigger }) => !known.has(trigger)).map(begin));
  }
};
