import { ago, type Kept, longAgo, type MakeStep, type Step } from './step.ts';

const text = (nodePath: string, template: string): MakeStep =>
  ago(longAgo, ({ edge }) => ({
    method: 'PUT',
    path: '/configuration_manager/node/config',
    body: {
      treeId: edge,
      treeVersion: 'initial',
      nodePath,
      data: { template, variables: {} },
      updateVariables: true,
    },
  }));

/** Texts of the edge routers' golden configuration, and a check of a device against them. */
export const goldenSteps: readonly MakeStep[] = [
  text(
    'base',
    `{% for server in ntp_servers %}
ntp server {{ server }}
{% endfor %}
logging host {{ syslog.host }}
interface {/.+/}
 <i/>description {/.+/}
`,
  ),
  text(
    'base/Hardening',
    `<e/>ip ssh version 2
<e/>{d/}ip http server
service tcp-keepalives-in
service tcp-keepalives-out
{/enable (secret|password)/} {/.*/}
`,
  ),
  text(
    'base/Hardening/Management access',
    `line vty 0 4
 <e/>transport input ssh
 exec-timeout {{ idle_minutes | default(10) }} 0
`,
  ),
  ({ edge }) => ({
    method: 'POST',
    path: '/configuration_manager/compliance_reports/config',
    body: {
      options: {
        treeId: edge,
        version: 'initial',
        nodePath: 'base/Hardening/Management access',
        deviceName: 'lab-01',
        dryRun: true,
      },
    },
  }),
];

/** A plan of the devices of the lab, and a run of it. */
export const complianceSteps: readonly MakeStep[] = [
  ago(longAgo, ({ edge, hardening }) => ({
    method: 'POST',
    path: '/configuration_manager/compliance_plans',
    keep: ({ _id }) => ({ labPlan: _id }),
    body: {
      name: 'Lab hardening',
      description: 'Devices of the lab, before a change goes to the sites',
      throttle: 2,
      nodes: [{ treeId: edge, version: 'initial', nodeId: hardening, devices: ['lab-01', 'lab-02'] }],
    },
  })),
  ({ labPlan }) => ({
    method: 'POST',
    path: '/configuration_manager/compliance_plans/run',
    keep: ({ batchId }) => ({ labBatch: batchId }),
    body: { planId: labPlan },
  }),
];

/** An automation that checks the lab: at night, and after each change once that trigger is enabled. */
export const checkSteps: readonly ((values: Kept) => Step)[] = [
  ({ labPlan }) => ({
    method: 'PUT',
    path: '/configuration_manager/compliance_plans',
    body: { planId: labPlan, options: { status: 'active' } },
  }),
  () => ({
    method: 'POST',
    path: '/operations-manager/automations',
    keep: ({ data }) => ({ labCheck: data._id }),
    body: {
      name: 'Check the lab',
      description: 'Runs the plan Lab hardening',
      componentType: 'ucm_compliance_plans',
      componentName: 'Lab hardening',
    },
  }),
  ({ labCheck }) => ({
    method: 'POST',
    path: '/operations-manager/triggers',
    body: {
      ...{ type: 'schedule', name: 'Check the lab each night', enabled: true, formId: null, formData: {} },
      ...{ actionType: 'automations', actionId: labCheck, firstRunAt: Date.UTC(2026, 0, 3, 2), repeatUnit: 'day' },
      ...{ repeatFrequency: 1, repeatInterval: 86_400_000, processMissedRuns: 'last', legacyWrapper: false },
    },
  }),
  ({ labCheck }) => ({
    method: 'POST',
    path: '/operations-manager/triggers',
    body: {
      ...{ type: 'eventSystem', name: 'Check a device of the lab after its change', enabled: false },
      ...{ actionType: 'automations', actionId: labCheck, legacyWrapper: false },
      ...{ source: '@platform/configuration-manager', topic: 'deviceConfigurationApplied', schema: null, jst: null },
    },
  }),
];

/** Lines that lab-01 got by hand, by the days since then. In the end it is as it was. */
const byHand: Readonly<Record<number, string>> = {
  150: 'ip http server',
  120: 'no service tcp-keepalives-in\nno service tcp-keepalives-out',
  90: 'no ip http server',
  60: 'line vty 0 4\n exec-timeout 60 0',
  30: 'service tcp-keepalives-in\nservice tcp-keepalives-out\nline vty 0 4\n no exec-timeout 60 0',
};

/** Half a year of the plan of the lab, in which one device drifts: a run every 15 days. */
export const historySteps: readonly MakeStep[] = Array.from({ length: 12 }, (_, i) => longAgo - i * 15).flatMap(
  (days) => {
    const config = byHand[days];
    const change = (): Step => ({
      method: 'POST',
      path: '/configuration_manager/devices/lab-01/configuration',
      isOnce: true,
      body: { config: { device: 'lab-01', config }, options: { backup: false } },
    });
    const run = ({ labPlan }: Kept): Step => ({
      method: 'POST',
      path: '/configuration_manager/compliance_plans/run',
      awaits: 'instanceId',
      body: { planId: labPlan },
    });
    return [...(config === undefined ? [] : [ago(days, change)]), ago(days, run)];
  },
);
