import type { Kept, Step } from './step.ts';

const survey = '5e0a1b2c3d4e5f6071829301';
const form = '5e0a1b2c3d4e5f6071829302';
const next = { type: 'standard', state: 'success' };

/** A project with a form, a command template, and a workflow that names both. */
export const siteSurvey = {
  _id: survey,
  iid: 1,
  name: 'Site survey',
  description: 'Ask for a site, and look at its uplinks',
  thumbnail: '',
  backgroundColor: '#FFFFFF',
  components: [
    {
      iid: 1,
      type: 'jsonForm',
      reference: form,
      folder: '/Forms',
      document: {
        id: form,
        name: 'Which site',
        description: 'The site to look at',
        struct: { type: 'object', items: [{ type: 'string', title: 'Site', nodeId: 'site', required: true }] },
        schema: { title: 'Which site', type: 'object', required: ['Site'], properties: { Site: { type: 'string' } } },
        uiSchema: {},
        bindingSchema: {},
        validationSchema: {},
        version: '2020.1',
      },
    },
    {
      iid: 2,
      type: 'mopCommandTemplate',
      reference: `@${survey}: Uplinks`,
      folder: '/',
      document: {
        name: 'Uplinks',
        os: 'ios',
        passRule: true,
        ignoreWarnings: false,
        commands: [
          {
            command: 'show interfaces status',
            passRule: true,
            rules: [{ rule: 'connected', eval: 'contains', severity: 'error' }],
          },
        ],
        tags: [],
      },
    },
    {
      iid: 3,
      type: 'workflow',
      reference: 'site-survey',
      folder: '/',
      document: {
        name: 'Survey',
        type: 'automation',
        tasks: {
          workflow_start: {},
          workflow_end: {},
          a1: {
            name: 'ShowJsonForm',
            app: 'JsonForms',
            type: 'manual',
            variables: { incoming: { form_id: form }, outgoing: { export: '$var.job.site' } },
          },
        },
        transitions: { workflow_start: { a1: next }, a1: { workflow_end: next } },
      },
    },
  ],
  folders: [
    { nodeType: 'folder', name: 'Forms', children: [{ iid: 1, nodeType: 'component' }] },
    { iid: 2, nodeType: 'component' },
    { iid: 3, nodeType: 'component' },
  ],
};

export const projectSteps: readonly ((ids: Kept) => Step)[] = [
  () => ({
    method: 'POST',
    path: '/automation-studio/projects/import',
    keep: ({ data }) => ({ survey: data._id }),
    body: { project: siteSurvey },
  }),
];
