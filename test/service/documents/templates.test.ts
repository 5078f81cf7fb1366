import assert from 'node:assert/strict';
import { ok, type People, people, refused } from '../../support/people.ts';
import { type Answer, adminPassword, basic, startService, type TestService } from '../../support/service.ts';

describe('Templates over HTTP', () => {
  let service: TestService;
  let who: People;
  const path = '/template_builder/templates';
  const automations = '/operations-manager/automations';
  const make = async (name: string, more: object = {}) =>
    ok(await service.ask('POST', path, { name, template: 'interface {{ name }}', ...more })).data;
  before(async () => {
    service = await startService();
    who = await people(service);
  });
  after(() => service.stop());

  it('are created, and show up by name and id with the names of their authors', async () => {
    const answer = await service.ask('POST', path, {
      name: 'Made / 100%',
      template: '{% broken',
      data: 'some text',
      tags: ['t'],
    });
    const { status, message, data } = ok(answer);
    assert.deepEqual(
      [status, message, data.type, data.createdBy, data.data],
      ['Created', 'Successfully created template', 'jinja2', 'admin', 'some text'],
    );
    const get = await service.ask('GET', `${path}/${encodeURIComponent('Made / 100%')}`);
    assert.deepEqual(ok(get), data);
    assert.equal(get.headers.get('etag'), answer.headers.get('etag'));
    assert.deepEqual(ok(await service.ask('GET', `${path}/${data._id}`)), data);
    refused(await service.ask('POST', path, { name: 'Made / 100%', template: '' }), 409, /Made/);
    refused(await service.ask('GET', `${path}/nowhere`), 404);
  });

  it('are updated part by part, also with a copy of the whole', async () => {
    const { _id } = await make('Updated');
    const { status, data } = ok(await service.ask('PUT', `${path}/Updated`, { description: 'New' }));
    assert.deepEqual([status, data.description, data.template], ['OK', 'New', 'interface {{ name }}']);
    const again = await service.ask('PUT', `${path}/${_id}`, data);
    assert.deepEqual(ok(again).data, data);
    refused(await service.ask('PUT', `${path}/${_id}`, { description: 'Other' }, { 'If-Match': '"0"' }), 412);
    refused(await service.ask('PUT', `${path}/nowhere`, {}), 404);
    await make('Taken');
    refused(await service.ask('PUT', `${path}/Updated`, { name: 'Taken' }), 409, /Taken/);
  });

  it('are rendered over variables as they were written: numbers of any size and kind, members in their order', async () => {
    const variables = '{"vlans": {"20": "b", "10": "a"}, "1": 1.0, "asn": 12345678901234567890, "rate": 1e3}';
    const template = "{{ vlans }} {{ rate }} {{ asn + 1 }} {{ vlans|join(',') }}";
    const rendered = "{'20': 'b', '10': 'a'} 1000.0 12345678901234567891 20,10";
    const castPath = `${path}/Exact/renderJinja2TemplateWithCast`;
    assert.deepEqual(
      ok(await service.ask('POST', castPath, `{"template": ${JSON.stringify(template)}, "variables": ${variables}}`)),
      { renderedTemplate: rendered },
    );
    const answer = await service.ask(
      'POST',
      castPath,
      `{"template": "{{ variables.n }}", "variables": {"variables": {"n": 12345678901234567890}}, "castDataType": "number"}`,
    );
    assert.equal(answer.text, '{"renderedTemplate":12345678901234567890}');
    await make('Exact', { template });
    assert.equal(ok(await service.ask('POST', `${path}/Exact/renderJinja`, `{"context": ${variables}}`)), rendered);
    refused(
      await service.ask('POST', castPath, '{"template": "", "variables": {"n": 1e999}}'),
      400,
      /"\/variables\/n"/,
    );
    refused(
      await service.ask('POST', castPath, '{"template": "", "variables": {"$exact": "1.0"}}'),
      400,
      /"\/variables\/\$exact"/,
    );
    refused(await service.ask('POST', castPath, '{"template": "", "castDataType": 9007199254740993}'), 400, /2\^53/);
  });

  it('keep their sample data as it was written', async () => {
    const data = '{"20":{"b":1.0,"1":[12345678901234567890]},"10":-0}';
    const made = await service.ask('POST', path, `{"name": "Sampled", "template": "", "data": ${data}}`);
    assert.equal(made.status, 200, made.text);
    assert.ok(made.text.includes(`"data":${data}`), made.text);
    const got = await service.ask('GET', `${path}/Sampled`);
    assert.ok(got.text.includes(`"data":${data}`), got.text);
    const same = await service.ask('PUT', `${path}/Sampled`, got.text);
    assert.deepEqual([same.status, same.headers.get('etag')], [200, got.headers.get('etag')], 'a copy is no change');
    const changed = await service.ask(
      'PUT',
      `${path}/Sampled`,
      '{"data": {"10": 0, "20": {"b": 1.0, "1": [12345678901234567890]}}}',
    );
    assert.ok(changed.text.includes('"data":{"10":0,"20":{"b":1.0,"1":[12345678901234567890]}}'), changed.text);
    const list = await service.ask('GET', `${path}?multiEquals[name]=Sampled`);
    assert.ok(list.text.includes('"b":1.0,"1":[12345678901234567890]'), list.text);
    service = await service.restart();
    assert.ok((await service.ask('GET', `${path}/Sampled`)).text.includes('[12345678901234567890]'));
  });

  it('are not rendered any more once their caller has gone', async () => {
    await service.stop();
    service = await startService({ LOG_LEVEL: 'info' });
    who = await people(service);
    const stuck = "{{ ('a' * 1000000 ~ 'b' ~ 'a' * 1000000) in ('a' * 6000000) }}";
    const render = (template: string, signal?: AbortSignal) =>
      fetch(`${service.url}${path}/x/renderJinja2TemplateWithCast`, {
        method: 'POST',
        body: JSON.stringify({ template }),
        headers: {
          'Content-Type': 'application/json',
          Authorization: basic({ user: 'admin', password: adminPassword }),
        },
        ...(signal && { signal }),
      });
    const leaving = new AbortController();
    const left = Promise.allSettled(Array.from({ length: 20 }, () => render(stuck, leaving.signal)));
    // Another's turn comes meanwhile.
    assert.equal(
      ok(await who.member('POST', `${path}/x/renderJinja2TemplateWithCast`, { template: '1' })).renderedTemplate,
      '1',
    );
    leaving.abort();
    await left;
    assert.equal((await render('1')).status, 200);
    const statuses = service.lines
      .map((line) => JSON.parse(line))
      .filter(({ operation, user }) => operation === 'renderJinja2TemplateWithCast' && user === 'admin')
      .map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 200).length, 1);
    assert.ok(statuses.filter((status) => status === 422).length <= 2, `rendered to the end: ${statuses}`);
  });

  it('are deleted unless an automation names them, by id or name', async () => {
    const { _id } = await make('Used');
    const component = (name: string, componentName: string, more: object = {}) =>
      service.ask('POST', automations, { name, componentType: 'template', componentName, ...more });
    ok(await component('By id', _id));
    ok(await component('By name', 'Used', { gbac: { write: ['ops'] } }));
    ok(
      await service.ask('POST', automations, { name: 'Other kind', componentType: 'workflows', componentName: 'Used' }),
    );
    refused(await service.ask('DELETE', `${path}/Used`), 409, /By id.*By name/);
    const answer = await who.stranger('DELETE', `${path}/Used`);
    refused(answer, 409, /By id.*hidden/);
    assert.doesNotMatch(answer.text, /By name/);
    refused(await service.ask('PUT', `${path}/Used`, { name: 'Renamed' }), 409, /By name/);
    ok(await service.ask('DELETE', `${automations}/By name`));
    ok(await service.ask('PUT', `${path}/Used`, { name: 'Renamed' }));
    ok(await service.ask('DELETE', `${automations}/By id`));
    assert.equal(ok(await service.ask('DELETE', `${path}/Renamed`)).data._id, _id);
    refused(await service.ask('GET', `${path}/${_id}`), 404);
  });

  it('are shown by name in the export of an automation, which can be taken back as it is', async () => {
    const { _id } = await make('Exported');
    const made = ok(
      await service.ask('POST', automations, { name: 'Exporting', componentType: 'template', componentName: _id }),
    ).data;
    const exported = async () => ok(await service.ask('GET', `${automations}/Exporting/export`)).data;
    const document = await exported();
    assert.equal(document.componentName, 'Exported');
    const again = await service.ask('PUT', automations, { automations: [document] });
    assert.deepEqual([ok(again).data[0].data.componentName, again.headers.get('x-event-position')], [_id, null]);
    ok(await service.ask('DELETE', `${automations}/${made._id}`));
    ok(await service.ask('PUT', automations, { automations: [document] }));
    assert.deepEqual(await exported(), document);
    const foreign = ok(
      await service.ask('POST', automations, { name: 'Foreign', componentType: 'workflows', componentName: _id }),
    ).data;
    assert.equal(ok(await service.ask('GET', `${automations}/${foreign._id}/export`)).data.componentName, _id);
  });

  it('include, import and extend each other by name, and only by name', async () => {
    const castPath = (name: string) => `${path}/${name}/renderJinja2TemplateWithCast`;
    const render = (name: string, context: object = {}) =>
      service.ask('POST', `${path}/${name}/renderJinja`, { context });
    await make('Part', { template: 'part of {{ name }}' });
    await make('Tools', { template: '{% macro vlan(id) %}vlan {{ id }}{% endmacro %}' });
    await make('Base', { template: 'begin {% block body %}{% endblock %} end' });
    await make('Parser', { template: 'Value X', type: 'textfsm' });
    await make('Whole', {
      template:
        '{% extends "Base" %}{% from "Tools" import vlan %}{% block body %}{% include "Part" %} {{ vlan(5) }}{% endblock %}',
    });
    assert.equal(ok(await render('Whole', { name: 'n' })), 'begin part of n vlan 5 end');
    const given = {
      template: '{% include which %}{% include "no such" ignore missing %}',
      variables: { which: 'Part' },
    };
    assert.deepEqual(ok(await service.ask('POST', castPath('anything'), given)), { renderedTemplate: 'part of ' });
    await make('Cycle', { template: '\n{% include "Circle" %}' });
    await make('Circle', { template: '{% include "Cycle" %}' });
    refused(await render('Cycle'), 422, /Cycle -> Circle -> Cycle/);
    for (const name of ['nowhere', '/etc/passwd', '../Part', 'Parser'])
      refused(
        await service.ask('POST', castPath('anything'), { template: `\n{% include "${name}" %}` }),
        422,
        /line 2: TemplateNotFound: There is no template/,
      );
    await make('Failing', { template: '\n\n{{ 1 / 0 }}' });
    refused(
      await service.ask('POST', castPath('anything'), { template: '{% include "Failing" %}' }),
      422,
      /line 3 of 'Failing': ZeroDivisionError/,
    );
    ok(await service.ask('PUT', `${path}/Part`, { template: 'changed' }));
    assert.equal(ok(await render('Whole')), 'begin changed vlan 5 end');
  });
});

describe('Templates of other installations over HTTP', () => {
  let service: TestService;
  const path = '/template_builder/templates';
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());
  const positionOf = ({ headers }: Answer) => headers.get('x-event-position');
  const exported = async (name: string, words = '') => {
    const { status, text } = await service.ask('GET', `${path}/${encodeURIComponent(name)}/export${words}`);
    assert.equal(status, 200, text);
    return text;
  };
  const importing = (document: string, more = '') =>
    service.ask('POST', '/template_builder/import/templates', `{"templates": [${document}]${more}}`);
  const foreign =
    '{"version":1.0,"tags":[],"name":"Foreign","10":{"b":1e3,"1":[12345678901234567890]},"template":"{{ a }}",' +
    '"type":"other","description":null,"data":{"2":1.50,"1":0},"createdBy":{"username":"admin","inactive":false},' +
    '"created":"2020-01-01T00:00:00.000Z","_id":"not-one-of-ours"}';

  it('are taken as they are, shown in our words, and given back in theirs', async () => {
    const answer = ok(await importing(foreign));
    const [{ success, data }] = answer.data;
    assert.deepEqual(
      [success, data.type, data.description, data.createdBy, data.created],
      [true, 'other', '', 'admin', '2020-01-01T00:00:00.000Z'],
    );
    assert.equal(data.version, undefined);
    const got = await service.ask('GET', `${path}/Foreign`);
    assert.ok(got.text.includes('"data":{"2":1.50,"1":0}'), got.text);
    assert.deepEqual(ok(got), data);
    assert.equal(await exported('Foreign', '?as=imported'), foreign);
    const ours = await exported('Foreign');
    assert.ok(ours.endsWith(',"version":1.0,"10":{"b":1e3,"1":[12345678901234567890]}}'), ours);
    assert.deepEqual(Object.keys(JSON.parse(ours)).filter((member) => member in data).length, Object.keys(data).length);
    refused(await service.ask('POST', `${path}/Foreign/renderJinja`, {}), 422, /type other/);
  });

  it('are edited like any, and keep what the service does not know', async () => {
    const whole = (await service.ask('GET', `${path}/Foreign`)).text;
    const position = (await service.ask('PUT', `${path}/Foreign`, whole)).headers.get('etag');
    assert.equal(position, (await service.ask('GET', `${path}/Foreign`)).headers.get('etag'), 'a copy is no change');
    ok(await service.ask('PUT', `${path}/Foreign`, { template: 'new', description: 'Now said' }));
    refused(await service.ask('PUT', `${path}/Foreign`, { type: 'mustache' }), 400, /"\/type"/);
    refused(await service.ask('PUT', `${path}/Foreign`, { version: 2 }), 400, /"\/version"/);
    const theirs = await exported('Foreign', '?as=imported');
    const { lastUpdated, ...rest } = JSON.parse(theirs);
    assert.equal(lastUpdated, undefined);
    assert.equal(
      theirs,
      foreign.replace('"{{ a }}"', '"new"').replace('"description":null', '"description":"Now said"'),
    );
    assert.equal(rest.version, 1);
    // The first document again is other content now.
    refused(await importing(foreign), 409);
    ok(await importing(foreign, ', "overwrite": true'));
    assert.equal(await exported('Foreign', '?as=imported'), foreign);
    ok(await importing(theirs, ', "options": {"overwrite": true}'));
    assert.equal(await exported('Foreign', '?as=imported'), theirs);
  });

  it('may have secrets, which are sealed, and masks of which nothing is stored', async () => {
    const secretive = {
      name: 'Secretive',
      template: '{{ a }}',
      password: 'p4ssw0rd',
      schema: { password: 'none' },
      token: '********',
      data: { secret: 's3cret', apiKey: '********' },
    };
    const answer = await importing(JSON.stringify(secretive));
    assert.deepEqual(ok(answer).data[0].missingSecrets, ['/templates/0/token', '/templates/0/data/apiKey']);
    const masked = { ...secretive, password: '********', data: { secret: '********', apiKey: '********' } };
    assert.deepEqual(JSON.parse(await exported('Secretive', '?as=imported')), masked);
    assert.deepEqual(ok(await service.ask('GET', `${path}/Secretive`)).data, masked.data);
    for (const text of [answer.text, await exported('Secretive')]) assert.doesNotMatch(text, /p4ssw0rd|s3cret|sealed/);
    const again = await importing(JSON.stringify(masked));
    assert.deepEqual(ok(again).data[0].missingSecrets, ['/templates/0/token', '/templates/0/data/apiKey']);
    assert.equal(positionOf(again), positionOf(answer), 'the same again is no change');
    const { text } = await service.ask('GET', `${path}/Secretive`);
    const copy = await service.ask('PUT', `${path}/Secretive`, text);
    assert.equal(positionOf(copy), positionOf(answer), 'a copy is no change');
    ok(await service.ask('PUT', `${path}/Secretive`, { data: { secret: '********', apiKey: 'known now' } }));
    assert.deepEqual(ok(await importing(JSON.stringify(masked))).data[0].missingSecrets, ['/templates/0/token']);
  });

  it('are refused where they are none, with the place', async () => {
    refused(await importing('{"name": "x", "template": 1}'), 400, /"\/templates\/0\/template"/);
    refused(await importing('{"template": ""}'), 400, /"\/templates\/0\/name"/);
    refused(await importing('{"name": "x", "template": "", "type": 1}'), 400, /"\/templates\/0\/type"/);
    refused(await importing('{"name": "x", "template": "", "createdBy": {}}'), 400, /"\/templates\/0\/createdBy/);
    refused(await importing('{"name": "x", "template": "", "n": 1e999}'), 400, /"\/templates\/0\/n"/);
    refused(await importing('{"name": "x", "template": ""}', ', "overwrit": true'), 400, /"\/overwrit"/);
    refused(await service.ask('GET', `${path}/nowhere/export`), 404);
    refused(await service.ask('GET', `${path}/Secretive/export?as=ours`), 400, /"as"/);
  });
});
