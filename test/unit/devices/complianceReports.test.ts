import assert from 'node:assert/strict';
import { orReason } from '../../../src/commands/configuration-manager/deviceChecks.ts';
import {
  beginBatch,
  complianceBatch,
  endBatch,
  requestBatch,
  stopBatch,
} from '../../../src/domain/configuration-manager/complianceBatches.ts';
import {
  compareGrades,
  complianceReport,
  followReport,
  type StoredReport,
  storeReport,
} from '../../../src/domain/configuration-manager/complianceReports.ts';
import { type Code, RequestError } from '../../../src/domain/engine/requestError.ts';
import { context, specification } from '../../support/given.ts';

const report = (id: string, timestamp: string, grade: StoredReport['grade']): StoredReport => ({
  id,
  batchId: 'b',
  planId: 'p',
  treeId: 't',
  version: 'initial',
  nodePath: 'base',
  nodeId: 'n',
  deviceName: 'r1',
  deviceType: 'cisco-ios',
  timestamp,
  status: grade === null ? 'error' : 'complete',
  specId: 'n',
  inheritedSpecIds: [],
  totals: { errors: 0, warnings: 0, infos: 0, passes: 0 },
  score: null,
  grade,
  issues: [],
  configuration: null,
});

describe('A compliance report', () => {
  const given = specification(complianceReport);
  const old = report('old', '2026-01-02', 'pass');
  const reported = (data: StoredReport) => ({ topic: 'complianceReported', data }) as const;

  it('is stored once', () => {
    given().when(storeReport, old).then(reported(old));
    given(reported(old)).when(storeReport, old).thenNothing();
  });

  it('says once that the grade of the report before was another one; a failed check has a grade of its own', () => {
    const places = { device: 'r1', treeId: 't', version: 'initial', nodeId: 'n', nodePath: 'base', plan: 'p' };
    const failed = report('new', '2026-01-03', null);
    const changed = {
      topic: 'deviceComplianceChanged',
      data: { ...places, report: 'new', from: 'pass', to: 'error' },
    } as const;
    const after = { after: 'old' };
    given(reported(failed)).when(compareGrades, after, old).then(changed);
    given(reported(failed), changed).when(compareGrades, after, old).thenNothing();
    given(reported(report('same', '2026-01-03', 'pass')))
      .when(compareGrades, after, old)
      .thenNothing();
    given(reported(failed)).when(compareGrades, after, undefined).thenNothing();
  });

  it('notes the first report that takes its place', () => {
    const followed = { topic: 'complianceReportFollowed', data: { by: 'new' } } as const;
    given(reported(old)).when(followReport, { by: 'new' }).then(followed);
    given(reported(old), followed).when(followReport, { by: 'newer' }).thenNothing();
    given().when(followReport, { by: 'new' }).thenNothing();
  });
});

describe('A run of compliance checks', () => {
  const given = specification(complianceBatch);
  const request = { job: 'j', plan: 'p' };
  const start = { ...request, nodes: [], failed: [] };
  const requested = { topic: 'complianceRunRequested', data: request } as const;
  const started = { topic: 'complianceRunStarted', data: start } as const;
  const stopped = { topic: 'complianceRunStopped', data: { status: 'error' } } as const;
  const resumed = { topic: 'complianceRunResumed', data: {} } as const;
  const sums = { totals: { errors: 0, warnings: 0, infos: 0, passes: 1 }, grade: 'pass', devices: 1, failed: [] };
  const ended = { topic: 'compliancePlanRan', data: { ...sums, ...request, batch: context.id } } as const;

  it('is requested and begins once', () => {
    given().when(requestBatch, request).then(requested);
    given(started).when(requestBatch, request).thenNothing();
    given(requested).when(beginBatch, start).then(started);
    given(started).when(beginBatch, start).thenNothing();
  });

  it('stops and goes on with its job, and ends once', () => {
    given(requested)
      .when(stopBatch, {}, { stop: 'error' as const })
      .then(stopped);
    given(started, stopped)
      .when(stopBatch, {}, { stop: 'canceled' as const })
      .thenNothing();
    given(started, stopped).when(stopBatch, {}, { stop: null }).then(resumed);
    given(started, stopped, resumed).when(stopBatch, {}, { stop: null }).thenNothing();
    given()
      .when(stopBatch, {}, { stop: 'error' as const })
      .thenNothing();
    given(started, stopped).when(endBatch, sums).then(ended);
    given(started, ended).when(endBatch, sums).thenNothing();
    given(started, ended)
      .when(stopBatch, {}, { stop: 'canceled' as const })
      .thenNothing();
  });
});

describe('A device that cannot be checked', () => {
  it('has the reason, whatever refuses; what will be over soon is no reason', async () => {
    const refusedBy = (code: Code) => orReason(() => Promise.reject(new RequestError(code, `It is ${code}`)));
    for (const code of ['adapter_failed', 'conflict', 'forbidden', 'invalid', 'too_large', 'unprocessable'] as const)
      assert.deepEqual(await refusedBy(code), { reason: `It is ${code}` });
    await assert.rejects(refusedBy('limited'), /limited/);
    await assert.rejects(refusedBy('unavailable'), /unavailable/);
  });
});
