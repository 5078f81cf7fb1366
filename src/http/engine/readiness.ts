import { oneByOne } from '@automation-platform/concurrency';
import { type Static, Type } from 'typebox';

const text = (description: string) => Type.String({ description });

/** The answer of a route that says if something can run. */
export const readinessSchema = Type.Object(
  {
    ready: Type.Boolean({ description: 'True if nothing is missing' }),
    missing: Type.Array(
      Type.Object(
        {
          in: text('Name of the resource that needs it'),
          kind: text(
            'Kind of what is missing: task, adapter and component (only a worker can carry them out), workflow, form, ' +
              'template, group, secret, fault, ...',
          ),
          name: text('Its name; of a secret and a fault the place in the document'),
        },
        { title: 'MissingPart', description: 'Part that the platform does not have' },
      ),
    ),
  },
  { title: 'Readiness', description: 'Parts without which something cannot run' },
);

type Readiness = Static<typeof readinessSchema>;
type Missing = Readiness['missing'][number];

/** The answer for several resources. */
export const readinessOf = async <Resource>(
  resources: readonly Resource[],
  missingFor: (resource: Resource) => Promise<readonly Missing[]>,
  more: readonly Missing[] = [],
): Promise<{ readonly body: Readiness }> => {
  const found = [...more, ...(await oneByOne(resources, missingFor)).flat()];
  return { body: { ready: found.length === 0, missing: found } };
};
