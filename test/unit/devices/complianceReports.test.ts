import assert from 'node:assert/strict';
import { orReason } from '../../../src/commands/configuration-manager/deviceChecks.ts';
import {
  complianceReport,
  followReport,
  type StoredReport,
  storeReport,
} from '../../../src/domain/configuration-manager/complianceReports.ts';
import { type Code, RequestError } from '../../../src/domain/engine/requestError.ts';
import { specification } from '../../support/given.ts';

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
  const [old, older] = [report('old', '2026-01-02', 'pass'), report('older', '2026-01-01', 'fail')];
  const reported = (data: StoredReport & { readonly follows?: readonly string[] }) =>
    ({ topic: 'complianceReported', data }) as const;

  it('is stored once, and names the reports whose place it takes', () => {
    given().when(storeReport, { report: old, before: [] }).then(reported(old));
    const same = report('new', '2026-01-03', 'pass');
    given()
      .when(storeReport, { report: same, before: [older, old] })
      .then(reported({ ...same, follows: ['older', 'old'] }));
    given(reported(old))
      .when(storeReport, { report: old, before: [older] })
      .thenNothing();
  });

  it('says that the grade of the newest report before was another one; a failed check has a grade of its own', () => {
    const places = { device: 'r1', treeId: 't', version: 'initial', nodeId: 'n', nodePath: 'base', plan: 'p' };
    const failed = report('new', '2026-01-03', null);
    given()
      .when(storeReport, { report: failed, before: [older, old] })
      .then(reported({ ...failed, follows: ['older', 'old'] }), {
        topic: 'deviceComplianceChanged',
        data: { ...places, report: 'new', from: 'pass', to: 'error' },
      });
  });

  it('notes the first report that takes its place', () => {
    const followed = { topic: 'complianceReportFollowed', data: { by: 'new' } } as const;
    given(reported(old)).when(followReport, { by: 'new' }).then(followed);
    given(reported(old), followed).when(followReport, { by: 'newer' }).thenNothing();
    given().when(followReport, { by: 'new' }).thenNothing();
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
