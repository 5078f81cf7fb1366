import assert from 'node:assert/strict';
import { fold } from '../../../src/domain/engine/core.ts';
import { unwatch, type WatchRefs, watch, watching } from '../../../src/domain/operations-manager/watchings.ts';
import { specification } from '../../support/given.ts';

const given = specification(watching);
const refs = (...began: readonly string[]): WatchRefs => ({ missing: [], began: new Set(began) });
const watched = (...jobIds: readonly string[]) => ({ topic: 'jobsWatched', data: { jobIds } }) as const;
const unwatched = (...jobIds: readonly string[]) => ({ topic: 'jobsUnwatched', data: { jobIds } }) as const;

describe('An account that watches jobs', () => {
  it('comes to those that it does not watch, each once', () => {
    given()
      .when(watch, { jobIds: ['a', 'b', 'a'] }, refs('b'))
      .then(watched('a'));
    given(watched('a'))
      .when(watch, { jobIds: ['a'] }, refs())
      .thenNothing();
    given().when(watch, { jobIds: [] }, refs()).thenNothing();
  });

  it('leaves those that it watches, its own as well', () => {
    given(watched('a'))
      .when(unwatch, { jobIds: ['a', 'own', 'other', 'own'] }, refs('own'))
      .then(unwatched('a', 'own'));
    given(watched('a'), unwatched('a', 'own'))
      .when(unwatch, { jobIds: ['a', 'own', 'other'] }, refs('own'))
      .thenNothing();
  });

  it('comes back to its own', () => {
    given(unwatched('own'))
      .when(watch, { jobIds: ['own'] }, refs('own'))
      .then(watched('own'));
    given(unwatched('own'), watched('own'))
      .when(watch, { jobIds: ['own'] }, refs('own'))
      .thenNothing();
  });

  it('keeps nothing of what is as it began', () =>
    assert.deepEqual(fold(watching, [unwatched('own'), watched('own', 'a'), unwatched('a')]), watching.initial));

  it('hears of all jobs that are not there', () => {
    given()
      .when(watch, { jobIds: ['x', 'a', 'y'] }, { ...refs(), missing: ['x', 'y'] })
      .thenRefused('not_found', /x, y/);
    given()
      .when(unwatch, { jobIds: ['x'] }, { ...refs(), missing: ['x'] })
      .thenRefused('not_found', /x/);
  });
});
