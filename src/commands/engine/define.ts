import { type Static, type TSchema, Type } from 'typebox';
import type { Signature } from '../../domain/engine/authors.ts';
import type { Actor, Aggregate, Context, Event, Gbac, Use } from '../../domain/engine/core.ts';
import type { Sealed } from '../../domain/engine/sealed.ts';
import type { Seal } from '../../domain/engine/secretFields.ts';
import type { Transform } from '../../domain/engine/transforming.ts';
import type { Collection, Projection } from '../../projections/engine/define.ts';
import type { Where } from '../../projections/engine/port.ts';
import type { Recorded } from '../../store/event.ts';

/** The functions that `prepare` may call. Their results show at least everything that this node has acknowledged. */
export type Tools = {
  /** The folded state of another stream, or `aggregate.initial` if the stream does not exist. */
  state<S>(aggregate: Aggregate<S>, id: string): Promise<S>;
  /**
   * The state that says who may read a resource: as it is now, even if all other tools show an earlier time. One that
   * is deleted keeps its access lists.
   */
  stateForRights<S>(aggregate: Aggregate<S>, id: string): Promise<S>;
  /**
   * The state of another stream as of a revision of it; without one, as of the last, which is -1 if there is no stream.
   * `position`: that of the event at this revision.
   */
  version<S>(
    aggregate: Aggregate<S>,
    id: string,
    revision?: number,
  ): Promise<{ readonly state: S; readonly revision: number; readonly position: number }>;
  /** The events of another stream up to a revision, from the first or from `from` on. */
  events(aggregate: Aggregate, id: string, last: number, from?: number): Promise<readonly Recorded[]>;
  /** The access list of the resource that this one follows, as of now, for a use; undefined: it follows none. */
  gbacAbove<S>(aggregate: Aggregate<S>, state: S, use: Use): Promise<Gbac> | undefined;
  /** True if the actor may read a document, by its guard as of now. */
  mayRead<Doc>(collection: Pick<Projection<Doc>, 'guard'>, doc: Doc, actor: Actor): boolean;
  /** The account as of now, with its rights; undefined if it is deleted or inactive. */
  accountNow(id: string): Promise<Actor | undefined>;
  /** True if a resource has ended so long ago that the read models do not show it any more. */
  isRetired(aggregate: Aggregate, id: string): Promise<boolean>;
  /** The document that a projection makes of another stream, as the log has it now; undefined if there is none. */
  shown<Doc>(projection: Projection<Doc>, id: string): Promise<Doc | undefined>;
  /** Times and authors of another resource; undefined if it does not exist. */
  signature(aggregate: Aggregate, id: string): Promise<Signature | undefined>;
  /**
   * Finds a document by id or name and returns its id. The id wins. Throws `conflict` if several documents have the
   * name.
   */
  find(collection: Collection, idOrName: string): Promise<string | undefined>;
  /** The ids of all documents with this name. */
  idsNamed(collection: Collection, name: string): Promise<readonly string[]>;
  /** The parsed documents that match, sorted by name. Skips `skip` documents and returns at most 1,000. */
  query<Doc, Filter extends string>(
    collection: Collection<Doc, string, Filter>,
    where?: Where<NoInfer<Filter>>,
    skip?: number,
  ): Promise<readonly Doc[]>;
  /** All parsed documents of a collection that has few, sorted by name. All callers share them. */
  all<Doc>(collection: Collection<Doc>): Promise<readonly Doc[]>;
  /**
   * Finds documents by ids or names, among those whose filter field has the value. Returns one id for each, in the same
   * order; undefined if there is no such document.
   */
  findWithin<Filter extends string>(
    collection: Collection<never, string, Filter>,
    field: NoInfer<Filter>,
    value: string,
    idsOrNames: readonly string[],
  ): Promise<readonly (string | undefined)[]>;
  /** The number of documents that match. */
  count<Filter extends string>(
    collection: Collection<never, string, Filter>,
    where: Where<NoInfer<Filter>>,
  ): Promise<number>;
  /** Hashes with scrypt, off the event loop. Returns parameters and hash as one text. */
  hashPassword(password: string): Promise<string>;
  /** Carries out a transformation document, off the event loop. */
  readonly transform: Transform;
  /** Seals a secret, so that events and documents may carry it. */
  seal(secret: string): Sealed;
  unseal(sealed: Sealed): string;
  /** The methods that roles may name, as `getMethods` lists them. */
  methods(): readonly { readonly provenance: string; readonly name: string }[];
};

/**
 * The arguments of `prepare`. The decision gets the same `now` and `newId`. `precomputed` is the result of `precompute`.
 */
export type Preparing<State, Input, Precomputed = undefined> = Pick<Context, 'id' | 'now' | 'actor' | 'newId'> & {
  readonly input: Input;
  readonly state: State;
  readonly precomputed: Precomputed;
};

/** A command without its aggregate. */
type Definition<State, E extends Event, Input, Refs, Precomputed> = {
  readonly name: string;
  readonly input: TSchema;
  /**
   * `existing`: the resource must exist, else `not_found`. `new`: it must not exist, else `conflict`. `any`: both are
   * allowed.
   */
  readonly on: 'existing' | 'new' | 'any';
  /**
   * Slow work that needs only the input. It runs once, before the command waits for its stream, so that it delays
   * nobody.
   */
  readonly precompute?: (input: Input, tools: Tools) => Promise<Precomputed>;
  /** The names of the locks that the command needs in this case, if any (commands/engine/locks.ts). */
  readonly locks?: (state: State, input: Input, id: string) => string | readonly string[] | undefined;
  /**
   * The decision chooses free names itself. If another command takes one of them meanwhile, it decides again instead of
   * answering that the name is taken.
   */
  readonly choosesNames?: boolean;
  /**
   * The input with its secrets sealed; the decision gets this one. `present`: inputs for the documents of an installed
   * package. Where the input has a mask, their secrets stay.
   */
  readonly seal?: (input: Input, state: State, seal: Seal, present: readonly Input[]) => Input;
  /** The access lists that apply, if they are not the aggregate's own. */
  readonly gbac?: (state: State, refs: NoInfer<Refs>) => Gbac;
  readonly decide: (state: State, input: Input, context: Context<NoInfer<Refs>>) => readonly E[];
};

type Prepare<State, Input, Refs, Precomputed> = (
  request: Preparing<State, Input, NoInfer<Precomputed>>,
  tools: Tools,
) => Promise<Refs>;

/**
 * A command whose decision needs data of other streams. `prepare` collects them and rejects nothing that the decision
 * itself can reject.
 */
type Prepared<State, E extends Event, Input, Refs, Precomputed> = Definition<State, E, Input, Refs, Precomputed> & {
  readonly prepare: Prepare<State, Input, Refs, Precomputed>;
};

/** A command whose decision needs only its own stream, so it has no `refs`. */
type Unprepared<State, E extends Event, Input, Precomputed> = Definition<State, E, Input, undefined, Precomputed> & {
  readonly prepare?: never;
};

/** A command of one aggregate. */
export type Command<State, E extends Event, Input, Refs = unknown, Precomputed = unknown> = Definition<
  State,
  E,
  Input,
  Refs,
  Precomputed
> & {
  readonly aggregate: Aggregate<State, E>;
  readonly prepare?: Prepare<State, Input, Refs, Precomputed> | undefined;
};

type Own = any; // only the command itself knows these types

/** A command of any aggregate with this input. */
export type CommandOn<Input> = Command<Own, Own, Input, Own, Own>;

export type AnyCommand = CommandOn<Own>;

/** The input schema of commands that name none. */
export const noInput = Type.Object({}, { additionalProperties: false });
type NoInput = typeof noInput;
type Given<D, S extends TSchema> = Omit<D, 'input'> & { readonly input?: S };

/**
 * Defines commands of one aggregate. The schema gives the type of the decision's input, and `prepare` gives the type of
 * `refs`. So a decision that reads `refs` does not compile without `prepare`.
 */
export const commandsOf = <State, E extends Event>(aggregate: Aggregate<State, E>) => {
  function command<S extends TSchema = NoInput, Refs = never, Precomputed = undefined>(
    definition: Given<Prepared<State, E, Static<S>, Refs, Precomputed>, S>,
  ): Command<State, E, Static<S>, Refs, Precomputed>;
  function command<S extends TSchema = NoInput, Precomputed = undefined>(
    definition: Given<Unprepared<State, E, Static<S>, Precomputed>, S>,
  ): Command<State, E, Static<S>, undefined, Precomputed>;
  function command(definition: Given<Omit<AnyCommand, 'aggregate'>, TSchema>): AnyCommand {
    return { input: noInput, ...definition, aggregate };
  }
  return command;
};
