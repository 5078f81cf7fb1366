import assert from 'node:assert/strict';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import type { Bundle } from '../../../src/domain/prebuilts/prebuiltSchemas.ts';
import {
  complete,
  completed,
  decideImport,
  type PrebuiltImported,
  type PrebuiltRefs,
  prebuilt,
  remove,
} from '../../../src/domain/prebuilts/prebuilts.ts';
import { packed } from '../../support/documents.ts';
import { specification } from '../../support/given.ts';

const aForm = (name: string, more: object = {}): Bundle => ({ type: 'forms', data: { name, ...more } });

describe('A prebuilt', () => {
  const given = specification(prebuilt);
  const workflow: Bundle = { type: 'integrationModel', data: { _id: 'w', name: 'W' } };
  const whole = packed('p', [aForm('F'), workflow]);
  const plan = {
    parts: [{ category: 'form', id: 'f', names: [{ kind: 'form', name: 'F' }], bundle: 0 }],
    removed: [],
    installed: [{ type: 'forms' as const, _id: 'f', name: 'F' }],
  };
  const nothing = { parts: [], removed: [], installed: plan.installed };
  const refs: PrebuiltRefs = { bundlesHash: 'abc', plan, errors: [], accounts: {} };
  const data: PrebuiltImported = {
    prebuilt: whole,
    ...plan,
    kept: [{ type: 'integrationModel', _id: 'w', name: 'W' }],
    refused: [],
    accounts: {},
    bundlesHash: 'abc',
    createdEpoch: String(Date.UTC(2026, 0, 1)),
  };
  const imported = { topic: 'prebuiltImported', data } as const;
  const installed = { topic: 'prebuiltInstalled', data: {} } as const;
  const other = { ...whole, readme: 'other' };

  it('is installed by one event, which the same package does not repeat', () => {
    given().when(decideImport, { prebuilt: whole }, refs).then(imported);
    given(imported, installed)
      .when(decideImport, { prebuilt: whole }, { ...refs, plan: nothing })
      .thenNothing();
    given(imported, installed)
      .when(decideImport, { prebuilt: completed(whole, data) }, { ...refs, plan: nothing })
      .thenNothing();
    given(imported, installed)
      .when(decideImport, { prebuilt: whole, overwrite: true }, { ...refs, plan: nothing })
      .thenNothing();
    given(imported, installed).when(decideImport, { prebuilt: whole, overwrite: true }, refs).then(imported);
  });

  it('is replaced by other content only when told to', () => {
    given(imported, installed)
      .when(decideImport, { prebuilt: other }, refs)
      .thenRefused('conflict', /metadata\/name/);
    given(imported, installed)
      .when(decideImport, { prebuilt: { ...whole, bundles: [workflow] } }, { ...refs, bundlesHash: 'other' })
      .thenRefused('conflict', /metadata\/name/);
    given(imported, installed)
      .when(decideImport, { prebuilt: other, overwrite: true }, refs)
      .then({ topic: 'prebuiltImported', data: { ...data, prebuilt: other } });
  });

  it('installs what an earlier version only kept, when the same package comes again', () => {
    const form: PrebuiltImported = { ...data, kept: [{ type: 'forms', name: 'F' }] };
    const before = { topic: 'prebuiltImported', data: form } as const;
    given(before, installed).when(decideImport, { prebuilt: whole }, refs).then(imported);
    given(before, installed)
      .when(decideImport, { prebuilt: whole }, { ...refs, plan: nothing })
      .thenNothing();
  });

  it('is left alone while it is being installed', () => {
    given(imported).when(decideImport, { prebuilt: whole }, refs).thenRefused('unavailable');
    given(imported).when(remove, {}).thenRefused('unavailable');
    given(imported).when(complete, {}).then(installed);
    given(imported, installed).when(complete, {}).thenNothing();
  });

  it('promises names as long as it is being installed', () => {
    assert.deepEqual(prebuilt.reservations!({ imported: data, pending: true, deciding: { automations: [] } }), [
      { owner: 'form-f', name: { kind: 'form', name: 'F' } },
    ]);
    const { parts } = data;
    const unpacked = { ...data, parts: [{ category: 'project', id: 'p', names: [], bundle: 0, content: { parts } }] };
    assert.deepEqual(prebuilt.reservations!({ imported: unpacked, pending: true, deciding: { automations: [] } }), [
      { owner: 'form-f', name: { kind: 'form', name: 'F' } },
    ]);
    assert.deepEqual(prebuilt.reservations!({ imported: data, pending: false, deciding: { automations: [] } }), []);
  });

  const errors = [
    { index: 0, error: new RequestError('conflict', 'taken', { path: '/a' }) },
    { index: 0, error: new RequestError('not_found', 'no group', { path: '/b' }) },
    { index: 0, error: new RequestError('not_found', 'no form', { path: '/c' }) },
  ];

  it('is refused for all faults of the kind that comes first, if it is strict', () => {
    given()
      .when(decideImport, { prebuilt: whole, strict: true }, { ...refs, errors })
      .thenRefused('not_found', /and 1 more.*\/b.*\/c/);
    given(imported, installed)
      .when(decideImport, { prebuilt: other, strict: true }, { ...refs, errors: [errors[0]!] })
      .thenRefused('conflict', /\/a.*metadata/);
  });

  it('goes in without the documents that cannot be installed, unless nothing is left', () => {
    const failed = errors.slice(0, 1);
    given()
      .when(
        decideImport,
        { prebuilt: whole },
        { ...refs, plan: { parts: [], removed: [], installed: [] }, errors: failed },
      )
      .then({
        topic: 'prebuiltImported',
        data: {
          ...data,
          prebuilt: { ...whole, bundles: [workflow] },
          parts: [],
          installed: [],
          refused: [{ type: 'forms', name: 'F', code: 'conflict', path: '/a', reason: 'taken' }],
        },
      });
    given()
      .when(decideImport, { prebuilt: { ...whole, bundles: [aForm('F')] } }, { ...refs, errors: failed })
      .thenRefused('conflict', /Nothing of the package/);
  });

  it('can be deleted, and installed anew', () => {
    const deleted = { topic: 'prebuiltDeleted', data: {} } as const;
    given(imported, installed).when(remove, {}).then(deleted);
    given(imported, installed, deleted)
      .when(decideImport, { prebuilt: other }, refs)
      .then({ topic: 'prebuiltImported', data: { ...data, prebuilt: other } });
  });

  it('has artifacts, fingerprint and time derived only where it has none', () => {
    const derived = completed(whole, { bundlesHash: 'f'.repeat(64), createdEpoch: '5' }).manifest;
    assert.deepEqual(derived, {
      bundleName: 'p',
      fingerprint: 'f'.repeat(24),
      createdEpoch: '5',
      artifacts: [
        { id: '', name: 'F', location: '/bundles/0', type: 'forms' },
        { id: 'w', name: 'W', location: '/bundles/1', type: 'integrationModel' },
      ],
    });
    const own = { bundleName: 'b', artifacts: [], fingerprint: 'mine', createdEpoch: '1' };
    assert.deepEqual(completed({ ...whole, manifest: own }, data).manifest, own);
  });
});
