import { Type } from 'typebox';
import { type Area, aggregate, type Context, type Event } from './core.ts';
import { type Referrer, refuseClosed, refuseReferred, refuseUnknownIds } from './references.ts';
import { name } from './schemas.ts';
import { nothing, texts } from './topics.ts';

/**
 * The kind of resources. `member`: the member of bodies and events that has their ids. `title`: the name of the schema.
 * `completed`: the topic of the event once all are deleted, if there is such an event.
 */
type Deleted<Topic, Member, Completed> = {
  readonly area: Area;
  readonly category: string;
  readonly topic: Topic;
  readonly completed?: Completed;
  readonly member: Member;
  readonly title: string;
  readonly noun: string;
  /** The noun with an s unless given. */
  readonly nouns?: string;
};

type Ids<Member extends string> = { readonly [M in Member]: readonly string[] };

/**
 * `missing`: resources that do not exist, or that the actor may not see. `closed`: those that the actor may not change.
 * `referrers`: resources that name the rest.
 */
type DeletionRefs = {
  readonly missing: readonly string[];
  readonly closed?: readonly string[];
  readonly referrers?: readonly Referrer[];
};

/** The decision to delete several resources of a kind, all or none. It is carried out in the streams of the resources. */
export const deletionOf = <
  const Topic extends string,
  const Member extends string,
  const Completed extends string = never,
>(
  kind: Deleted<Topic, Member, Completed>,
) => {
  const { area, category, topic, completed, member, title, noun, nouns = `${noun}s` } = kind;
  type Decided = Event<Topic, Ids<Member>> | ([Completed] extends [never] ? never : Event<Completed, object>);
  type State = { readonly ids: readonly string[]; readonly isCompleted?: true };
  const named = nouns.charAt(0).toUpperCase() + nouns.slice(1);
  const idList = Type.Array(name(`Id of a ${noun}`), {
    description: `${named} to delete: all or none`,
    maxItems: 1000,
  });
  const idsIn = (data: Ids<Member>): readonly string[] => data[member];
  const dataOf = (ids: readonly string[]) => ({ [member]: ids }) as unknown as Ids<Member>; // the only member

  return {
    of: aggregate<State, Decided>({
      area,
      category,
      topics: {
        [topic]: [`${named} are to be deleted`, Type.Object({ [member]: texts })],
        ...(completed && { [completed]: [`All ${nouns} of a deletion are deleted`, nothing] }),
      } as never,
      initial: { ids: [] },
      evolve: {
        [topic]: (_: State, data: Ids<Member>): State => ({ ids: idsIn(data) }),
        ...(completed && { [completed]: ({ ids }: State): State => ({ ids, isCompleted: true }) }),
      } as never,
      exists: ({ ids }) => ids.length > 0,
    }),
    topic,
    idList,
    idsIn,
    schema: Type.Unsafe<Ids<Member>>(
      Type.Object({ [member]: idList }, { additionalProperties: false, title, description: `${named} to delete` }),
    ),
    decide: (_: unknown, input: Ids<Member>, { refs }: Context<DeletionRefs>): readonly Decided[] => {
      const { missing, closed = [], referrers = [] } = refs;
      refuseUnknownIds(missing, noun, `/${member}`, nouns);
      refuseClosed(closed, noun, `/${member}`);
      refuseReferred(referrers, 'deleted');
      const ids = [...new Set(idsIn(input))];
      return ids.length > 0 ? [{ topic, data: dataOf(ids) } as Decided] : [];
    },
    complete: ({ ids, isCompleted }: State): readonly Decided[] =>
      completed && ids.length > 0 && !isCompleted ? [{ topic: completed, data: {} } as unknown as Decided] : [],
  };
};
