const types = ['template', 'mop-template', 'agent'] as const;

/** The types of components that the platform runs itself. */
export type BuiltInType = (typeof types)[number];

const all: readonly (string | null | undefined)[] = types;

/** Whether the platform runs components of this type itself. */
export const isBuiltIn = (type: string | null | undefined): type is BuiltInType => all.includes(type);

/** The error of a job that was broken off after it had begun to change the world. */
export const unknownOutcome =
  'It was broken off while commands were sent to devices: the outcome is unknown. They are not sent again';
