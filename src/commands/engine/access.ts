import type { Actor, Gbac } from '../../domain/engine/core.ts';

const inAny = ({ groups }: Actor, names: readonly string[]): boolean => names.some((name) => groups.includes(name));

/** Both lists empty: everybody. Else members of one of them; `write` implies read (docs/behaviour/access.md). */
export const mayRead = (actor: Actor, { read, write }: Gbac): boolean =>
  actor.admin || (read.length === 0 && write.length === 0) || inAny(actor, read) || inAny(actor, write);

export const mayWrite = (actor: Actor, { read, write }: Gbac): boolean =>
  actor.admin || (read.length === 0 && write.length === 0) || inAny(actor, write);
