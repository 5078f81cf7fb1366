import type { Static, TSchema } from 'typebox';
import type { Aggregate, Context, Event, Gbac } from '../../domain/engine/core.ts';
import type { Sealed } from '../../domain/engine/sealed.ts';
import type { Seal } from '../../domain/engine/secretFields.ts';
import type { Where } from '../../projections/engine/port.ts';

export type { Sealed };

/** What `prepare` may ask of the world. Answers are at least as new as everything this node has acknowledged. */
export type Tools = {
  /** The folded state of another stream (`aggregate.initial` when there is none). */
  state<S>(aggregate: Aggregate<S>, id: string): Promise<S>;
  /** The id that an id or a name means in a collection; the id wins. A name that several documents bear: `conflict`. */
  find(collection: string, idOrName: string): Promise<string | undefined>;
  /** Parsed documents that match, by name, at most 1,000 from `skip` on. */
  query(collection: string, where?: Where, skip?: number): Promise<readonly any[]>; // the documents' shape is the projection's affair
  /**
   * The ids that ids or names mean among the documents whose filter field has the value, in their order; undefined
   * where there is none.
   */
  findWithin(
    collection: string,
    field: string,
    value: string,
    idsOrNames: readonly string[],
  ): Promise<readonly (string | undefined)[]>;
  /** How many documents match. */
  count(collection: string, where: Where): Promise<number>;
  /** scrypt, off the event loop: parameters and hash as one text. */
  hashPassword(password: string): Promise<string>;
  /** A secret as events and documents may carry it. */
  seal(secret: string): Sealed;
  unseal(sealed: Sealed): string;
  /** The methods that roles may name: operation 1. */
  methods(): readonly { readonly provenance: string; readonly name: string }[];
};

/** What `prepare` is told; `now` and `newId` are those of the decision. */
export type Preparing<State, Input> = Pick<Context, 'id' | 'now' | 'actor' | 'newId'> & {
  readonly input: Input;
  readonly state: State;
  readonly early: any;
}; // a matter between it and `early`

/** Something the outside may ask for: what it must say, and which decision answers it. */
export type Command<State = any, E extends Event = any, Input = any, Refs = any> = {
  readonly name: string;
  readonly aggregate: Aggregate<State, E>;
  readonly input: TSchema;
  /** Whether the resource must be there (else not_found), or comes into being, or either. */
  readonly on: 'existing' | 'new' | 'any';
  /** Slow work on the input alone: done once, before anything is looked at or anybody kept waiting. */
  readonly early?: (input: Input, tools: Tools) => Promise<any>; // a matter between it and prepare
  /** Gathers what the decision needs beside its own stream. Refuses nothing that the decision could refuse. */
  readonly prepare?: (request: Preparing<State, Input>, tools: Tools) => Promise<Refs>;
  /**
   * Name of the series of decisions that it belongs to in this case, if any, or of several (commands/engine/series.ts).
   */
  readonly series?: (state: State, input: Input, id: string) => string | readonly string[] | undefined;
  /**
   * The input with its secrets sealed: what is decided about. `kept`: of a document that a package brings, the same
   * document as the installed package has it, if it does; the mask keeps its secrets, too.
   */
  readonly seal?: (input: Input, state: State, seal: Seal, kept: readonly any[]) => Input; // of the shape of the input's document
  /** Whose access lists apply, where they are not the aggregate's own. */
  readonly gbac?: (state: State, refs: Refs) => Gbac;
  readonly decide: (state: State, input: Input, context: Context<Refs>) => readonly E[];
};

/** The commands of one aggregate: each schema fixes what its decision receives. */
export const commandsOf =
  <State, E extends Event>(aggregate: Aggregate<State, E>) =>
  <S extends TSchema, Refs = undefined>(
    command: Omit<Command<State, E, Static<S>, Refs>, 'aggregate' | 'input'> & { readonly input: S },
  ): Command<State, E, Static<S>, Refs> => ({ ...command, aggregate });
