import { fold } from '../../domain/engine/core.ts';
import { nameKey } from '../../domain/engine/names.ts';
import type { Bundle } from '../../domain/prebuilts/prebuiltSchemas.ts';
import { refuseAbove, refuseAccess, refuseEntry } from '../engine/decide.ts';
import type { Imports } from '../engine/kinds.ts';
import { type Draft, onlyFor } from './prebuiltDrafts.ts';

/** Plans one document that is no automation, with the command that imports such documents. */
export const planDocument = async (draft: Draft, kind: Imports, bundle: Bundle, index: number): Promise<void> => {
  const { type, data } = bundle;
  const { tools, request } = draft;
  const { actor, now, newId, overwrite, installedAs, freshId } = request;
  const { command, member, holder, meant } = kind;
  const { aggregate } = command;
  const id = await meant(data, freshId?.(index) ?? newId(`bundle ${index}`), tools);
  const state = await tools.state(aggregate, id);
  const plain = { [member]: data, overwrite };
  const earlier = installedAs({ type, data }, index).map((document) => ({ [member]: document }));
  const input = command.seal ? command.seal(plain, state, tools.seal, earlier) : plain;
  const refs = await command.prepare?.({ id, input, state, actor, now, newId, precomputed: undefined }, tools);
  refuseAccess(command, { state, refs, actor });
  await refuseAbove(command, { state, actor }, tools);
  const events = command.decide(state, input, { id, now, actor, newId, refs });
  const after = fold(aggregate, events, state);
  await refuseEntry(aggregate, { before: state, state: after, actor }, tools);
  const names = aggregate.names?.(after) ?? [];
  const [unique] = names;
  const name = unique?.name ?? String(data.name);
  draft.reserve(index, [`${aggregate.category}-${id}`, ...names.map(nameKey)]);
  if (events.length > 0 && unique) onlyFor(id, await holder(name, tools), name);
  draft.add({ kind, id, name, state: after });
  draft.sealed[index] = { ...bundle, data: input[member] };
  draft.installed[index] = { type, _id: id, name };
  if (events.length > 0) draft.parts.push({ category: aggregate.category, id, names, bundle: index });
};
