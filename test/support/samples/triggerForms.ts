export const manual = {
  type: 'manual',
  name: 'By hand',
  enabled: true,
  actionType: 'automations',
  actionId: 'a'.repeat(24),
  formId: 'Ports',
  formData: { vlan: 10 },
} as const;
