type Document = any; // documents are whatever their kind says

/** A package of these documents, as it is sent. */
export const packed = (name: string, bundles: readonly object[], more: object = {}): Document => ({
  metadata: {
    name,
    version: '1.0.0',
    description: '',
    author: 'a',
    license: 'MIT',
    repository: { type: 'local', hostname: '', path: '' },
    PlatformDependencies: {},
  },
  manifest: { bundleName: name },
  bundles,
  readme: '',
  ...more,
});

/** An automation as imports take it. */
export const automationDocument = (_id: string, more: object = {}): Document => ({
  _id,
  name: `Automation ${_id}`,
  description: '',
  componentType: null,
  componentName: null,
  gbac: {},
  ...more,
});

/** A manual trigger as imports take it. */
export const manualTrigger = (_id: string, actionId: string, more: object = {}): Document => ({
  _id,
  name: `By hand ${_id}`,
  type: 'manual',
  enabled: true,
  actionType: 'automations',
  actionId,
  formId: null,
  formData: null,
  ...more,
});
