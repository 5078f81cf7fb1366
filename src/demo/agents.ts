import type { Kept, Step } from './step.ts';

const summary = [
  '{{ change.id }}: {{ change.title | trim | capitalize }}' +
    " on {{ change.devices | length }} device{{ 's' if change.devices | length != 1 }}",
  "({{ change.devices | sort | join(', ') }}), from {{ change.window.start }} to {{ change.window.end }}.",
  "{%- if change.risk == 'high' %}",
  "High risk: {{ change.rollback | default('there is no way back') }}.",
  '{%- endif %}',
  '',
].join('\n');

const text = { type: 'string' };

const change = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  required: ['change'],
  properties: {
    change: {
      type: 'object',
      required: ['id', 'title', 'devices', 'window'],
      properties: {
        id: { type: 'string', pattern: '^CHG[0-9]{7}$' },
        title: text,
        devices: { type: 'array', items: text, minItems: 1 },
        risk: { enum: ['low', 'medium', 'high'] },
        rollback: text,
        window: { type: 'object', required: ['start', 'end'], properties: { start: text, end: text } },
      },
    },
  },
};

const alarm = {
  type: 'object',
  required: ['alarm', 'device'],
  properties: { alarm: text, device: text, since: { type: 'string', format: 'date-time' } },
};

const agent = (body: object): Step => ({ method: 'POST', path: '/agent-session-manager/agents', body });

/**
 * An agent with a template that sums up changes, with a session; and an agent with a webhook that looks into alarms. No
 * program answers that webhook here.
 */
export const agentSteps: readonly ((ids: Kept) => Step)[] = [
  () =>
    agent({
      name: 'Change summary',
      description: 'Sums up a change for the people on call',
      inputSchema: change,
      runner: 'template',
      template: summary,
      timeout: 30,
    }),
  () =>
    agent({
      name: 'Alarm triage',
      description: 'Looks into an alarm and says what to do',
      inputSchema: alarm,
      runner: 'webhook',
      url: 'https://triage.example.net/v1/sessions',
      headers: { Authorization: 'Bearer demo-triage-token' },
      timeout: 900,
    }),
  () => ({
    method: 'POST',
    path: '/agent-session-manager/sessions/run-agent',
    keep: ({ sessionId }) => ({ summarized: sessionId }),
    body: {
      agent: 'Change summary',
      inputs: {
        change: {
          id: 'CHG0031442',
          title: 'upgrade of the edge routers in Bonn',
          devices: ['edge-02', 'edge-01'],
          risk: 'high',
          rollback: 'the former image stays on bootflash',
          window: { start: '2027-01-03T02:00Z', end: '2027-01-03T04:00Z' },
        },
      },
      terminationCallbackSignature: {
        location: 'change calendar',
        serviceName: 'change-calendar',
        methodName: 'changeSummarized',
        identifier: 'CHG0031442',
      },
    },
  }),
];
