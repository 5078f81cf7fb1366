import { aggregate, type Event, type Name } from './core.ts';

/** Who claims a name, and the stream whose fold shows whether the claim holds. Both are stream names. */
export type Claim = { readonly owner: string; readonly decidedBy: string };

export type NameEvent = Event<'nameClaimed', Claim & Name>;

/** So many of those who have claimed a name are remembered. */
const mostBearers = 100;

/** `bearers`: the streams that have claimed the name, the latest first. */
export type NameState = { readonly claim?: Claim; readonly bearers: readonly string[] };

/** The claims on one name: the last one counts. Its events carry the source of the owner's area. */
export const nameClaims = aggregate<NameState, NameEvent>({
  area: 'authorization',
  category: 'name',
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

/** Closes the stream that was to decide a claim to a writer who has read it before; changes no state. */
export const claimLapsed = (name: Name): Event<'claimLapsed', Name> => ({ topic: 'claimLapsed', data: name });

export const sameName = (a: Name, b: Name): boolean =>
  a.kind === b.kind && (a.parent ?? '') === (b.parent ?? '') && a.name === b.name;
