import type { Actor, Gbac } from '../../domain/engine/core.ts';

const inAny = ({ groups }: Actor, names: readonly string[]): boolean => names.some((name) => groups.includes(name));

/**
 * If both lists are empty, everybody may read. Otherwise the actor must be in a group of `read` or `write`
 * (docs/behaviour/access.md).
 */
export const mayRead = (actor: Actor, { read, write }: Gbac): boolean =>
  actor.admin || (read.length === 0 && write.length === 0) || inAny(actor, read) || inAny(actor, write);

export const mayWrite = (actor: Actor, { read, write }: Gbac): boolean =>
  actor.admin || (read.length === 0 && write.length === 0) || inAny(actor, write);
