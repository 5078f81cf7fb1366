import { Type } from 'typebox';
import type { SchemaData } from '../engine/core.ts';
import { RequestError } from '../engine/requestError.ts';
import { moment, text, whole } from '../engine/topics.ts';

/** A worker's claim on a job. Only the last claim of a job counts. */
export const claimInEvents = Type.Object({
  /** 1, 2, 3: the claims of a job are counted for as long as it exists. */
  claim: whole,
  /** The name that the worker gives itself. */
  worker: text,
  /** The account that claimed. */
  account: text,
  /** When the claim lapses unless it is extended. */
  until: moment,
  /** For how long it is given at a time, in seconds. */
  lease: whole,
});
export type Claim = SchemaData<typeof claimInEvents>;

/** Why a claim was released. `lapsed`: its worker was not heard of in time. `returned`: it was given back. */
export type ReleaseReason = 'lapsed' | 'returned';

type Numbered = { readonly claim: number };

/** The claims of a job, or of one run of a task, until now. */
export type Claims<C extends Numbered = Claim> = {
  /** The number of the last claim; 0: there was none. */
  readonly last: number;
  /** How many claims there were since the start or the last retry, and how many of them were lost. */
  readonly attempts: number;
  readonly lost: number;
  /** The claim that has not been released. A job that ends keeps it. */
  readonly held: C | null;
};

export const noClaims: Claims<never> = { last: 0, attempts: 0, lost: 0, held: null };

/** The number of lost claims after which a job is given up. */
export const mostLost = 3;

/** The claims of a job after each of their events. */
export const claimed = <C extends Numbered>({ attempts, lost }: Claims<C>, claim: C): Claims<C> => ({
  last: claim.claim,
  attempts: attempts + 1,
  lost,
  held: claim,
});
export const extended = <C extends Numbered>(claims: Claims<C>, until: number): Claims<C> => ({
  ...claims,
  held: claims.held && { ...claims.held, until },
});
export const released = <C extends Numbered>(claims: Claims<C>, reason: ReleaseReason): Claims<C> => ({
  ...claims,
  lost: claims.lost + (reason === 'lapsed' ? 1 : 0),
  held: null,
});
export const forgotten = <C extends Numbered>({ last }: Claims<C>): Claims<C> => ({ ...noClaims, last });

type Caller = { readonly id: string; readonly admin: boolean };

/** The claim with this number, if it is held. Throws `conflict` if it is not, or if it is another account's. */
export const heldBy = <C extends Numbered & { readonly account: string }>(
  { held }: Claims<C>,
  claim: number,
  { id, admin }: Caller,
): C => {
  if (held?.claim !== claim)
    throw new RequestError('conflict', `Claim ${claim} is not held any more`, { path: '/claim' });
  if (held.account !== id && !admin)
    throw new RequestError('conflict', `Claim ${claim} is another account's`, { path: '/claim' });
  return held;
};

/** Throws `conflict` unless the caller may report: with the claim that is held, or without one if none is held. */
export const refuseOtherReports = <C extends Numbered & { readonly account: string }>(
  claims: Claims<C>,
  claim: number | undefined,
  caller: Caller,
): void => {
  if (claim !== undefined) heldBy(claims, claim, caller);
  else if (claims.held)
    throw new RequestError('conflict', 'A worker has claimed the job: a report must name that claim', {
      path: '/claim',
    });
};
