const types = [
  'template',
  'mop-template',
  'agent',
  'ucm_compliance_plans',
  'compliance-run',
  'configuration-backup',
  'configuration-change',
  'inventory-sync',
] as const;

/** The types of components that the platform runs itself. */
export type BuiltInType = (typeof types)[number];

const all: readonly (string | null | undefined)[] = types;

/** True if the platform runs components of this type itself. */
export const isBuiltIn = (type: string | null | undefined): type is BuiltInType => all.includes(type);

/** Components whose run goes on from what it has stored: each further run has less to do. */
const lasting: typeof all = [
  'agent',
  'ucm_compliance_plans',
  'compliance-run',
  'configuration-backup',
  'configuration-change',
  'inventory-sync',
] satisfies BuiltInType[];

export const goesOn = (type: string | null | undefined): boolean => lasting.includes(type);

/** The error of a job that was broken off after it had begun to change the world. */
export const unknownOutcome =
  'It was broken off while commands were sent to devices: the outcome is unknown. They are not sent again';
