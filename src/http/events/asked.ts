import type { ServerResponse } from 'node:http';
import { nearestName } from '@automation-platform/json';
import { resourceKinds } from '../../audit/auditEvent.ts';
import { callerKey } from '../../domain/engine/core.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { type Resource, resourceIn } from '../../domain/engine/resource.ts';
import type { StoredEvent } from '../../store/port.ts';
import type { Principal } from '../authentication/principal.ts';

/** Which events a reader wants; what is undefined excludes nothing. */
export type Wanted = {
  readonly source: string | undefined;
  readonly topic: string | undefined;
  /** `<kind>` or `<kind>/<id>`. */
  readonly resource: string | undefined;
};

/** A position after which the events are wanted; `now`: those from now on. */
export type From = number | 'now';

/** The caller who opens a stream. */
export type Opener = {
  /** The key of the reader (`callerKey`). */
  readonly account: string;
  /** True once the login or the token has ended that they sent; not set without one. */
  readonly hasEnded?: (() => boolean) | undefined;
};

export const openerOf = ({ actor, hasEnded }: Principal): Opener => ({ account: callerKey(actor), hasEnded });

/** The way to read the events of the log as a stream. */
export type EventReading = {
  /** Position of the newest event in the log. */
  readonly head: () => Promise<number>;
  /** Throws unless the account may open one more stream. */
  readonly check: (account: string) => void;
  /** Begins to tell the reader of the events that it wants, after a position, over an answer whose head is written. */
  readonly open: (res: ServerResponse, opener: Opener, filter: Wanted, after: number) => void;
};

const isPosition = /^\d{1,16}$/;

const positionIn = (text: string): number | undefined =>
  isPosition.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;

/** Where a reader begins. The header `Last-Event-ID` wins over the parameter `from`; '' is none. */
export const fromOf = (from: string | undefined, lastEventId: string): From => {
  if (lastEventId !== '') {
    const position = positionIn(lastEventId);
    if (position === undefined)
      throw new RequestError('invalid', 'Last-Event-ID must be the position of an event', { path: 'Last-Event-ID' });
    return position;
  }
  if (from === undefined || from === 'now') return 'now';
  if (from === 'start') return 0;
  const position = positionIn(from);
  if (position === undefined)
    throw new RequestError('invalid', 'from must be start, now or a position', { path: 'from' });
  return position;
};

/** Throws if no event can be of such a resource. */
export const refuseUnknownResource = (resource: string): void => {
  const { kind } = resourceIn(resource) ?? { kind: resource };
  if (resourceKinds.has(kind)) return;
  const near = nearestName(kind, resourceKinds);
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  throw new RequestError('invalid', `resource must be a kind of resource, or <kind>/<id>, such as job/65f0...${hint}`, {
    path: 'resource',
  });
};

/** Throws if there is no such position in the log yet. */
export const refuseBeyond = (from: From, head: number, lastEventId: string): void => {
  if (from === 'now' || from <= head) return;
  const path = lastEventId === '' ? 'from' : 'Last-Event-ID';
  throw new RequestError('invalid', `The log ends at position ${head}; ${from} is beyond it`, { path });
};

/** Two readers with the same key want the same events. */
export const keyOf = ({ source, topic, resource }: Wanted): string =>
  JSON.stringify([source ?? null, topic ?? null, resource ?? null]);

/** Makes the test for wanted events. */
export const wants = ({ source, topic, resource }: Wanted) => {
  const slash = resource?.indexOf('/') ?? -1;
  const kind = slash < 0 ? resource : resource?.slice(0, slash);
  const id = slash < 0 ? undefined : resource?.slice(slash + 1);
  return ({ type }: Pick<StoredEvent, 'type'>, about: Resource | null): boolean => {
    if (kind !== undefined && (about?.kind !== kind || (id !== undefined && about.id !== id))) return false;
    if (source === undefined && topic === undefined) return true;
    const colon = type.lastIndexOf(':');
    return (
      (source === undefined || (colon === source.length && type.startsWith(source))) &&
      (topic === undefined || type.slice(colon + 1) === topic)
    );
  };
};

/** The types that the log need not even read; undefined: all must be read. */
export const typesOf = ({ source, topic }: Wanted): readonly string[] | undefined =>
  source === undefined ? undefined : [`${source}:${topic ?? ''}`];
