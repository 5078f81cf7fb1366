import { type Static, type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { time } from '../engine/authors.ts';
import { RequestError } from '../engine/requestError.ts';

const units = ['minute', 'hour', 'day', 'week'] as const;

/** Fixed lengths in milliseconds, in UTC: without daylight saving time. */
export const unitLength: Readonly<Record<(typeof units)[number], number>> = {
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
};

/** The schema of `repeatUnit`, and of the unit of a duration. */
export const unit = Type.Enum([...units], { description: 'Unit of time' });

const repetitionLevel = Type.Object(
  {
    type: Type.Optional(
      Type.Enum(['repeating', 'terminating'], {
        description: 'repeating runs the components over and over, terminating once, or `count` times',
      }),
    ),
    action: Type.Optional(
      Type.Enum(['execute', 'wait'], { description: 'A leaf: execute fires and lasts its duration, wait only lasts' }),
    ),
    duration: Type.Optional(
      Type.Object(
        { unit: Type.Any(), quantity: Type.Number({ minimum: 0 }) },
        {
          additionalProperties: false,
          description: 'How long it lasts; a whole number where unit is minute, hour, day or week',
        },
      ),
    ),
    count: Type.Optional(Type.Integer({ minimum: 0, description: 'How often a terminating node runs its components' })),
    start: Type.Optional(time('Not before; only together with components, without duration, count and action')),
    end: Type.Optional(time('Not after; as start')),
    components: Type.Optional(
      Type.Array(Type.Any(), { description: 'Nodes of the same form, at most 16 levels deep and 1,000 in all' }),
    ),
  },
  { additionalProperties: false, title: 'Repetition', description: 'Node of a repetition tree' },
);

/** A node of a repetition tree, in one of three forms. */
export type Repetition = Omit<Static<typeof repetitionLevel>, 'components'> & {
  readonly components?: readonly Repetition[];
};

/** This schema covers the root only. `checkRepetition` checks the whole tree. */
export const repetitionSchema = Type.Unsafe<Repetition>(repetitionLevel);

const level = Compile(repetitionLevel);
const maxDepth = 16;
const maxNodes = 1000;

/**
 * Describes the whole tree, to take it apart (domain/engine/lenientSchemas.ts). Too deep nodes are not described:
 * `checkRepetition` refuses them.
 */
export const repetitionTree = Type.Unsafe<Repetition>(
  Array.from({ length: maxDepth }).reduce<TSchema>(
    (below) => ({
      ...repetitionLevel,
      properties: { ...repetitionLevel.properties, components: { type: 'array', items: below } },
    }),
    repetitionLevel,
  ),
);

/**
 * Throws `invalid` with the path for a node that has none of the forms. The same for a tree that is too deep or too
 * large.
 */
export const checkRepetition = (tree: Repetition, path: string): void => {
  let nodes = 0;
  const check = (node: Repetition, path: string, depth: number): void => {
    if (depth > maxDepth)
      throw new RequestError('invalid', `A repetition tree may be ${maxDepth} levels deep`, { path });
    if (++nodes > maxNodes) throw new RequestError('invalid', `A repetition tree may have ${maxNodes} nodes`, { path });
    const [fault] = level.Check(node) ? [] : level.Errors(node);
    if (fault)
      throw new RequestError('invalid', `A node of the repetition tree ${fault.message}`, {
        path: path + fault.instancePath,
      });
    const { duration, start, end, components } = node;
    if (duration && units.includes(duration.unit) && !Number.isInteger(duration.quantity))
      throw new RequestError('invalid', `A number of ${duration.unit}s must be whole`, {
        path: `${path}/duration/quantity`,
      });
    if (start !== undefined || end !== undefined) {
      const foreign = (['duration', 'count', 'action'] as const).find((member) => node[member] !== undefined);
      if (foreign)
        throw new RequestError('invalid', `A node with start or end has no ${foreign}`, { path: `${path}/${foreign}` });
      if (!components)
        throw new RequestError('invalid', 'A node with start or end has components', { path: `${path}/components` });
      if (start !== undefined && end !== undefined && Date.parse(end) <= Date.parse(start))
        throw new RequestError('invalid', 'The end must come after the start', { path: `${path}/end` });
    }
    for (const [i, component] of (components ?? []).entries()) check(component, `${path}/components/${i}`, depth + 1);
  };
  check(tree, path, 1);
};
