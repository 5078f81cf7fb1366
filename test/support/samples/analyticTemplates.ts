export const rules = [
  { type: 'table' as const, preRegex: '^(\\S+) up', evaluation: 'contains' as const, severity: 'error' as const },
];
export const template = {
  name: 'Before and after',
  prepostCommands: [{ preRawCommand: 'show ip interface brief', rules }],
};
export const content = {
  name: 'Before and after',
  description: '',
  os: '',
  passRule: true,
  namespace: null,
  prepostCommands: [
    {
      preRawCommand: 'show ip interface brief',
      postRawCommand: '',
      passRule: true,
      rules,
      preCommandResHTML: '',
      postCommandResHTML: '',
    },
  ],
};
