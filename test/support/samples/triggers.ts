export const common = { name: 'On call', enabled: true, actionType: 'automations', actionId: 'a'.repeat(24) } as const;
export const endpoint = {
  ...common,
  type: 'endpoint',
  verb: 'POST',
  routeName: 'call',
  schema: null,
  jst: null,
} as const;
export const event = {
  ...common,
  type: 'eventSystem',
  source: '@platform/operations-manager',
  topic: 'jobErrored',
  schema: { type: 'object' },
  jst: null,
} as const;
export const manual = { ...common, type: 'manual', formData: { site: 'Bonn' }, formId: 'sites' } as const;
export const schedule = {
  ...common,
  type: 'schedule',
  formData: null,
  formId: null,
  firstRunAt: 0,
  processMissedRuns: 'last',
  repeatInterval: null,
} as const;
