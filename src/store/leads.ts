import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';

/** Stands among the methods of a served log: other nodes of the platform see by it that the process of this log leads. */
export const leads = { service: 'automation-platform.log', method: 'leads' } as const;

/** True if a server says that it is a process of the platform, which leads. */
export const serverLeads = (methods: SupportedMethods): boolean =>
  methods
    .getMethodsList()
    .some((one) => one.getServiceName() === leads.service && one.getMethodName() === leads.method);
