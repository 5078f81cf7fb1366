export const [a, b, t1, t2] = ['a'.repeat(24), 'b'.repeat(24), '1'.repeat(24), '2'.repeat(24)] as const;

export const authors = {
  created: '2020-01-01T00:00:00.000Z',
  createdBy: 'jo',
  lastUpdated: '2021-01-01T00:00:00.000Z',
  lastUpdatedBy: null,
};
export const stored = {
  name: 'Backup',
  description: '',
  componentType: null,
  componentName: null,
  gbac: { read: [], write: [] },
};
export const manual = {
  actionType: 'automations',
  actionId: a,
  type: 'manual',
  enabled: true,
  formData: null,
  formId: null,
} as const;

export const [one, two] = [
  { _id: t1, name: 'One', ...manual },
  { _id: t2, name: 'Two', ...manual },
] as const;
