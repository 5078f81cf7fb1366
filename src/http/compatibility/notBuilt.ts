/**
 * Addresses that programs for other platforms call, and that have no meaning here, with what is missing. `:id` is any
 * name, `*` at the end any path below; a method before the path means that one alone.
 */
export const notBuilt: Readonly<Record<string, string>> = {
  '/adapters*': 'Adapters are not started, stopped or changed by this service: a worker is a process of its own',
  '/agent-project-service*': 'Projects of agents are not built',
  '/applications*': 'Applications are not started, stopped or changed one by one: they are parts of this service',
  '/authorization/views': 'Views are not built: the console shows what the roles of a person allow',
  '/gateway_manager/v1/connections*': 'Gateways are not built: nothing is connected',
  '/gateway_manager/v1/gateways*': 'Gateways are not built',
  '/gateway_manager/v1/health*': 'Gateways are not built',
  '/gateway_manager/v1/services*': 'Services of gateways are not built',
  '/gateway_manager/v1/version': 'Gateways are not built',
  '/integration-models*': 'Integrations are not built: a task restCall or a worker calls other systems',
  '/integrations*': 'Integrations are not built: a task restCall or a worker calls other systems',
  'GET /operations-manager/triggers/action/:id':
    'This address is not built: call GET /operations-manager/triggers?multiEquals[actionId]={id}',
  '/profiles/:id/export': 'The export of a profile is not built: call GET /profiles/{id}',
  '/tags*': 'Tags of documents are not built',
  '/workflow_engine/jobs/metrics': 'No read model counts runs by workflow',
  '/workflow_engine/tasks/metrics': 'No read model counts runs by task',
};

const rows = Object.entries(notBuilt).map(([key, missing]) => {
  const [, method, path = ''] = /^(?:([A-Z]+) )?(.*)$/.exec(key) ?? [];
  const below = path.endsWith('*') ? '(/.*)?' : '';
  const pattern = new RegExp(`^${path.replace('*', '').replace(/:\w+/g, '[^/]+')}${below}$`, 's');
  return { method, pattern, missing };
});

/** Says in words which part is missing at an address; undefined if programs for other platforms do not call it. */
export const missingAt = (called: string, path: string): string | undefined =>
  rows.find(({ method = called, pattern }) => method === called && pattern.test(path))?.missing;
