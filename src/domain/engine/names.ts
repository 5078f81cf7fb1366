import { Type } from 'typebox';
import { aggregate, type Event, type EventOf, type Name } from './core.ts';
import { text, topicsOf } from './topics.ts';

/** A claim on a name: the owner's stream, and the deciding stream, whose fold shows whether the claim holds. */
export type Claim = { readonly owner: string; readonly decidedBy: string };

const name = { kind: text, parent: Type.Optional(text), name: text };

const topics = topicsOf({
  nameClaimed: ['A stream claimed a unique name', Type.Object({ ...name, owner: text, decidedBy: text })],
});
export type NameEvent = EventOf<typeof topics>;

/** How many streams that once claimed the name are kept. */
const mostBearers = 1000;

/** `bearers`: the streams that have claimed the name, the latest first. */
export type NameState = { readonly claim?: Claim; readonly bearers: readonly string[] };

/** The claims on one name. The last claim counts. Its events have the source of the owner's area. */
export const nameClaims = aggregate<NameState, NameEvent>({
  area: 'authorization',
  category: 'name',
  topics,
  internal: true,
  initial: { bearers: [] },
  evolve: {
    nameClaimed: ({ bearers }, { owner, decidedBy }) => ({
      claim: { owner, decidedBy },
      bearers:
        bearers[0] === owner ? bearers : [owner, ...bearers.filter((other) => other !== owner)].slice(0, mostBearers),
    }),
  },
  exists: ({ claim }) => claim !== undefined,
});

/** Prevents the append of a slow writer whose claim the stream was to decide. Changes no state. */
export const claimLapsed = (name: Name): Event<'claimLapsed', Name> => ({ topic: 'claimLapsed', data: name });

/** A text that two names share only if they are equal. The names of claim streams are made from it. */
export const nameKey = ({ kind, parent = '', name }: Name): string => JSON.stringify([kind, parent, name]);

export const sameName = (a: Name, b: Name): boolean =>
  a.kind === b.kind && (a.parent ?? '') === (b.parent ?? '') && a.name === b.name;
