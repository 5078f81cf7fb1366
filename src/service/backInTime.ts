import { LRUCache } from 'lru-cache';
import { commandTools } from '../commands/engine/tools.ts';
import type { Config } from '../config.ts';
import type { Actor } from '../domain/engine/core.ts';
import type { Moment } from '../domain/engine/moments.ts';
import { RequestError } from '../domain/engine/requestError.ts';
import type { Past } from '../http/engine/asOf.ts';
import type { Service } from '../http/engine/service.ts';
import type { Node } from '../node.ts';
import { pastThread } from '../projections/asOf/pastThread.ts';
import { pastView } from '../projections/asOf/pastView.ts';
import { reader } from '../projections/engine/reader.ts';
import type { AuditIndex } from '../store/auditIndex/auditIndex.ts';
import { positionAt } from '../store/auditIndex/times.ts';

const mostViews = 100;

/** Makes services that show an earlier time. */
export const backInTime = (config: Config, node: Node, index: Pick<AuditIndex, 'read'>) => {
  const { log, model: live, tools, guarding, warn } = node;
  const { EVENTSTORE_URL: at, FOREIGN_EVENTS: foreign } = config;
  const { reads, stop } = pastThread({ log: at, memory: config.ASOF_MEMORY * 2 ** 20, foreign, warn });
  // Admins see everything, so they share their services.
  const ofAdmins = new LRUCache<number, Service>({ max: mostViews });

  const positionOf = async (moment: Moment): Promise<number> => {
    // All that this node has acknowledged is surely there.
    if ('position' in moment && moment.position <= node.acknowledged()) return moment.position;
    const head = await log.head();
    if ('time' in moment) return index.read(head, (db) => positionAt(db, log, moment.time));
    if (moment.position > head)
      throw new RequestError('invalid', `asOf is beyond the log, which ends at ${head}`, { path: 'asOf' });
    return moment.position;
  };

  const toolsAt = (position: number, model: Service['model']): Service['tools'] => {
    const { hashPassword, seal, unseal, methods } = tools;
    const past = commandTools({
      model,
      streams: node.streamsUpTo(position),
      settled: () => undefined,
      rest: { hashPassword, seal, unseal, methods },
    });
    return { ...past, stateForRights: tools.state };
  };

  const serviceAt = (service: Service, position: number, actor: Actor): Service => {
    const model = pastView({ reads, live, position, actor });
    // The progress that workers report is about now.
    const work = { ...service.work, progressOf: () => null, taskProgressOf: () => null };
    return { ...service, work, model, tools: toolsAt(position, model), ...reader(model, guarding) };
  };

  const shared = (service: Service, position: number, actor: Actor): Service => {
    const hit = ofAdmins.get(position);
    if (hit) return hit;
    const view = serviceAt(service, position, actor);
    ofAdmins.set(position, view);
    return view;
  };

  return {
    /** The service as of a moment, as the actor may see it now. Throws `invalid` for a position beyond the log. */
    at: async (service: Service, moment: Moment, actor: Actor): Promise<Past> => {
      const position = await positionOf(moment);
      return { position, service: (actor.admin ? shared : serviceAt)(service, position, actor) };
    },
    stop,
  };
};
