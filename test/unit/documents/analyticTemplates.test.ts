import {
  type AnalyticTemplateEvent,
  analyticTemplate,
  change,
  create,
  importOne,
  remove,
} from '../../../src/domain/mop/analyticTemplates.ts';
import { specification } from '../../support/given.ts';
import { content, template } from '../../support/samples/analyticTemplates.ts';

const given = specification(analyticTemplate);

const created: AnalyticTemplateEvent = { topic: 'analyticTemplateCreated', data: content };

describe('analytic templates: decisions', () => {
  it('creates with defaults filled in', () => given().when(create, { template }, {}).then(created));
  it('refuses patterns that cannot be used, by their place in the request', () =>
    given()
      .when(create, { template }, { patternFaults: [{ message: 'No pattern', path: '/prepostCommands/0' }] })
      .thenRefused('invalid', /"\/template\/prepostCommands\/0"/));
  it('changes what is other, and nothing the second time', () => {
    given(created)
      .when(change, { template: { ...template, os: 'ios' } }, {})
      .then({ topic: 'analyticTemplateChanged', data: { os: 'ios' } });
    given(created).when(change, { template }, {}).thenNothing();
  });
  it('takes a document in, once, and over another only when told so', () => {
    const authored = {
      created: '2026-01-01T00:00:00.000Z',
      createdBy: 'aaaaaaaaaaaaaaaaaaaaaaaa',
      lastUpdated: '2026-01-01T00:00:00.000Z',
      lastUpdatedBy: 'aaaaaaaaaaaaaaaaaaaaaaaa',
    };
    const imported = { ...template, name: { $same: true } };
    const restored: AnalyticTemplateEvent = {
      topic: 'analyticTemplateRestored',
      data: { ...content, ...authored, imported },
    };
    given().when(importOne, { template }, {}).then(restored);
    given(restored).when(importOne, { template }, {}).thenNothing();
    given(restored)
      .when(importOne, { template: { ...template, os: 'ios' } }, {})
      .thenRefused('conflict');
  });
  it('deletes', () => given(created).when(remove, {}, {}).then({ topic: 'analyticTemplateDeleted', data: {} }));
});
