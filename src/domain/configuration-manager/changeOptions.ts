import { type Static, Type } from 'typebox';

const flag = (description: string) => Type.Optional(Type.Boolean({ description }));

/** The options of a change that the platform understands. A controller may understand more. */
export const changeOptionsSchema = Type.Object(
  {
    dryRun: flag('Say what would change; nothing is changed or stored'),
    backup: flag('Keep copies of the configuration before and after'),
    verify: flag('Read the configuration back'),
    strict: flag('True: an answer that no pattern knows is a refusal'),
    save: flag('Make the running configuration the startup one, too'),
    replace: flag('It takes the place of the whole configuration'),
    confirm: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        description: 'Minutes after which the device goes back by itself, unless the change is confirmed',
      }),
    ),
  },
  { additionalProperties: true, title: 'ChangeOptions', description: 'Options; adapters may understand more' },
);
export type ChangeOptions = Static<typeof changeOptionsSchema> & Readonly<Record<string, unknown>>;
