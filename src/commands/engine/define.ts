import { type Static, type TSchema, Type } from 'typebox';
import type { Aggregate, Context, Event, Gbac } from '../../domain/engine/core.ts';
import type { Sealed } from '../../domain/engine/sealed.ts';
import type { Seal } from '../../domain/engine/secretFields.ts';
import type { Collection } from '../../projections/engine/define.ts';
import type { Where } from '../../projections/engine/port.ts';

export type { Sealed };

/** What `prepare` may ask of the world. Answers are at least as new as everything this node has acknowledged. */
export type Tools = {
  /** The folded state of another stream (`aggregate.initial` when there is none). */
  state<S>(aggregate: Aggregate<S>, id: string): Promise<S>;
  /** The id that an id or a name means in a collection; the id wins. A name that several documents bear: `conflict`. */
  find(collection: Collection, idOrName: string): Promise<string | undefined>;
  /** Parsed documents that match, by name, at most 1,000 from `skip` on. */
  query<Doc, Filter extends string>(
    collection: Collection<Doc, string, Filter>,
    where?: Where<NoInfer<Filter>>,
    skip?: number,
  ): Promise<readonly Doc[]>;
  /**
   * The ids that ids or names mean among the documents whose filter field has the value, in their order; undefined
   * where there is none.
   */
  findWithin<Filter extends string>(
    collection: Collection<never, string, Filter>,
    field: NoInfer<Filter>,
    value: string,
    idsOrNames: readonly string[],
  ): Promise<readonly (string | undefined)[]>;
  /** How many documents match. */
  count<Filter extends string>(
    collection: Collection<never, string, Filter>,
    where: Where<NoInfer<Filter>>,
  ): Promise<number>;
  /** scrypt, off the event loop: parameters and hash as one text. */
  hashPassword(password: string): Promise<string>;
  /** A secret as events and documents may carry it. */
  seal(secret: string): Sealed;
  unseal(sealed: Sealed): string;
  /** The methods that roles may name: operation 1. */
  methods(): readonly { readonly provenance: string; readonly name: string }[];
};

/** What `prepare` is told; `now` and `newId` are those of the decision, `precomputed` is what `precomputed` gave. */
export type Preparing<State, Input, Precomputed = undefined> = Pick<Context, 'id' | 'now' | 'actor' | 'newId'> & {
  readonly input: Input;
  readonly state: State;
  readonly precomputed: Precomputed;
};

/** Something the outside may ask for, but for the aggregate: what it must say, and which decision answers it. */
type Definition<State, E extends Event, Input, Refs, Precomputed> = {
  readonly name: string;
  readonly input: TSchema;
  /** Whether the resource must be there (else not_found), or comes into being, or either. */
  readonly on: 'existing' | 'new' | 'any';
  /** Slow work on the input alone: done once, before anything is looked at or anybody kept waiting. */
  readonly precomputed?: (input: Input, tools: Tools) => Promise<Precomputed>;
  /**
   * The name of the lock that it takes in this case, if any, or the names of several (commands/engine/locks.ts).
   */
  readonly locks?: (state: State, input: Input, id: string) => string | readonly string[] | undefined;
  /**
   * The input with its secrets sealed: what is decided about. `kept`: the inputs for documents that an installed
   * package has; where the input has a mask, their secrets stay.
   */
  readonly seal?: (input: Input, state: State, seal: Seal, kept: readonly Input[]) => Input;
  /** Whose access lists apply, where they are not the aggregate's own. */
  readonly gbac?: (state: State, refs: NoInfer<Refs>) => Gbac;
  readonly decide: (state: State, input: Input, context: Context<NoInfer<Refs>>) => readonly E[];
};

type Prepare<State, Input, Refs, Precomputed> = (
  request: Preparing<State, Input, NoInfer<Precomputed>>,
  tools: Tools,
) => Promise<Refs>;

/** A decision that needs something beside its own stream. `prepare` refuses nothing that the decision could refuse. */
type Prepared<State, E extends Event, Input, Refs, Precomputed> = Definition<State, E, Input, Refs, Precomputed> & {
  readonly prepare: Prepare<State, Input, Refs, Precomputed>;
};

/** A decision that needs nothing beside its own stream, so it has no `refs`. */
type Unprepared<State, E extends Event, Input, Precomputed> = Definition<State, E, Input, undefined, Precomputed> & {
  readonly prepare?: never;
};

/** A command of an aggregate. */
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

type Own = any; // state, events, input and refs are the affair of the command itself

/** A command that takes this input, of whatever aggregate. */
export type CommandOn<Input> = Command<Own, Own, Input, Own, Own>;

/** Any command. */
export type AnyCommand = CommandOn<Own>;

/** The input of commands that need none. */
export const noInput = Type.Object({}, { additionalProperties: false });

/**
 * The commands of one aggregate. The schema fixes what the decision receives, and `prepare` what it finds in `refs`: a
 * decision that reads `refs` does not compile without `prepare`.
 */
export const commandsOf = <State, E extends Event>(aggregate: Aggregate<State, E>) => {
  function command<S extends TSchema, Refs = never, Precomputed = undefined>(
    definition: Prepared<State, E, Static<S>, Refs, Precomputed> & { readonly input: S },
  ): Command<State, E, Static<S>, Refs, Precomputed>;
  function command<S extends TSchema, Precomputed = undefined>(
    definition: Unprepared<State, E, Static<S>, Precomputed> & { readonly input: S },
  ): Command<State, E, Static<S>, undefined, Precomputed>;
  function command(definition: Omit<AnyCommand, 'aggregate'>): AnyCommand {
    return { ...definition, aggregate };
  }
  return command;
};
