import fc from 'fast-check';
import type { Kind } from './kind.ts';
import { always, documentOf, json, maybe, name, object, objectId, text, time, word } from './values.ts';

const path = '/automation_catalog';
const orNull = (value: fc.Arbitrary<unknown>) => fc.oneof(value, fc.constant(null));

export const scheduledJobs: Kind = {
  name: 'scheduled jobs',
  documents: documentOf(
    always('name', name),
    always(
      'data',
      documentOf(
        always('workflowId', word),
        maybe('name', orNull(word)),
        maybe('description', orNull(text)),
        maybe('formData', fc.oneof(object, fc.constant(null), text)),
        maybe('formId', orNull(word)),
        maybe('formSchemaHash', json),
        maybe('gbac', fc.constantFrom({ write: [], read: [] }, { write: ['admins'] }, {})),
        maybe('lastUpdated', time),
        maybe('modifiedById', objectId),
        maybe('modifiedByUsername', word),
      ),
    ),
    maybe('_id', fc.oneof(objectId, name, fc.constant(null))),
    maybe('lastModifiedBy', orNull(word)),
    maybe('lastRunAt', orNull(time)),
    maybe('nextRunAt', fc.oneof(time, fc.constantFrom(null, 'tomorrow', '1969-12-31T23:00:00Z', 12))),
    maybe('priority', json),
    maybe('repeatInterval', fc.oneof(fc.constantFrom(null, '1 day', '0 3 * * *', 60_000), json)),
    maybe('repeatTimezone', orNull(text)),
    maybe('tags', fc.array(json, { maxLength: 2 })),
    maybe('type', fc.constantFrom('normal', 'single')),
  ),
  importing: (document) => ({
    method: 'POST',
    path: `${path}/import/scheduled-jobs`,
    body: `{"scheduledJobs":[${document}]}`,
  }),
  exporting: ({ name }) => ({
    method: 'GET',
    path: `${path}/scheduled-jobs/${encodeURIComponent(String(name))}/export?as=imported`,
  }),
};
