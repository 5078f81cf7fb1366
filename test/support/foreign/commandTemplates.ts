import fc from 'fast-check';
import type { Kind } from './kind.ts';
import { always, documentOf, epoch, json, maybe, name, objectId, person, text } from './values.ts';

const command = fc.oneof(
  text,
  fc.constantFrom('show version', 'show running-config\nshow interfaces', 'ping <!host!>'),
);

const commandRule = documentOf(
  always('rule', fc.oneof(text, fc.constant(''), fc.constant('(?!lookahead)x'), fc.constant('('))),
  always('eval', fc.constantFrom('contains', '!contains', 'contains1', 'RegEx', '!RegEx', '#comparison', 'sometimes')),
  maybe('severity', fc.constantFrom('error', 'warning', 'info', 'none at all')),
  maybe('evaluator', fc.oneof(fc.constantFrom('=', '%', ''), json)),
  maybe('evaluation', json),
  maybe('ruleValues', json),
  maybe('ruleB', text),
  maybe('flags', json),
  maybe('raw', text),
  maybe('result', fc.boolean()),
);

const header = [
  always('name', name),
  maybe('_id', objectId),
  maybe('description', fc.option(text)),
  maybe('os', fc.constantFrom('', 'cisco-ios', 'junos')),
  maybe('passRule', fc.boolean()),
  maybe('ignoreWarnings', fc.boolean()),
  maybe('tags', fc.array(json, { maxLength: 3 })),
  maybe('namespace', fc.constant(null)),
  maybe('created', epoch),
  maybe('createdBy', person),
  maybe('lastUpdated', epoch),
  maybe('lastUpdatedBy', person),
];

const transfer = (type: string): Pick<Kind, 'importing' | 'exporting'> => ({
  importing: (document) => ({
    method: 'POST',
    path: '/mop/import',
    body: `{"type":"${type}","template":${document}}`,
  }),
  exporting: ({ name }) => ({
    method: 'POST',
    path: '/mop/export',
    body: JSON.stringify({ type, options: { name, as: 'imported' } }),
  }),
});

export const commandTemplates: Kind = {
  name: 'command templates',
  documents: documentOf(
    ...header,
    maybe(
      'commands',
      fc.array(
        documentOf(
          maybe('command', command),
          maybe('tempCommand', text),
          maybe('passRule', fc.boolean()),
          maybe('rules', fc.array(commandRule, { maxLength: 3 })),
        ),
        { maxLength: 3 },
      ),
    ),
  ),
  ...transfer('templates'),
};

export const analyticTemplates: Kind = {
  name: 'analytic templates',
  documents: documentOf(
    ...header,
    maybe(
      'prepostCommands',
      fc.array(
        documentOf(
          maybe('preRawCommand', text),
          maybe('postRawCommand', text),
          maybe('passRule', fc.boolean()),
          maybe('preCommandResHTML', text),
          maybe('postCommandResHTML', text),
          maybe(
            'rules',
            fc.array(
              documentOf(
                maybe('type', fc.constantFrom('regex', 'matches', 'table', 'other')),
                maybe('preRegex', text),
                maybe('postRegex', text),
                maybe('evaluator', fc.constantFrom('=', '>', '')),
                maybe('evaluation', text),
                maybe('severity', json),
              ),
              { maxLength: 3 },
            ),
          ),
        ),
        { maxLength: 3 },
      ),
    ),
  ),
  ...transfer('analytics'),
};
