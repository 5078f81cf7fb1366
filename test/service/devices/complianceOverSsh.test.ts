import assert from 'node:assert/strict';
import { builtInOf } from '../../support/builtIn.ts';
import { treeOf } from '../../support/complianceRuns.ts';
import { ok } from '../../support/people.ts';
import { describeSsh } from '../../support/sshServer.ts';
import { useService } from '../../support/useService.ts';

const manager = '/configuration_manager';

/** A shell that shows a configuration, and one of 200,000 lines. */
const router = () => `#!/bin/bash
while printf 'sw#'; IFS= read -r line; do
  line=\${line%$'\\r'}
  [ -t 0 ] || printf '%s\\n' "$line"
  case "$line" in
    "show running-config") printf '!\\nhostname sw\\nntp server 192.0.2.1\\nend\\n' ;;
    "show tables") seq -f 'vlan %.0f' 1 200000 ;;
    exit) exit ;;
  esac
done
`;

/** A shell that wants another password first. */
const expired = () => `#!/bin/bash
echo 'WARNING: Your password has expired.'
printf 'New password: '; IFS= read -r -s line
echo 'Password change aborted.'
exit 1
`;

describeSsh(
  'A run of a compliance plan, with a real server of SSH,',
  (server) => {
    describeSsh(
      'beside one that wants another password,',
      (strict) => {
        const service = useService({ OUTBOUND_ALLOW: '127.0.0.1' });
        const jobs = builtInOf((...args) => service.ask(...args));

        it('checks 20 devices at once, one with 200,000 lines, and reports the one that cannot be read', async () => {
          const names = Array.from({ length: 20 }, (_, n) => `sw-${n + 1}`);
          const add = async (name: string, of: typeof server, devices: readonly string[], more: object = {}) => {
            const { port, username, privateKey, hostKey } = of();
            ok(
              await service.ask('POST', `${manager}/adapters`, {
                name,
                type: 'ssh',
                properties: { username, privateKey, hostKey, timeout: 60_000, ...more },
                devices: devices.map((device) => ({ name: device, host: '127.0.0.1', port, ostype: 'cisco-ios' })),
              }),
            );
          };
          await add('switches', server, names);
          await add('core', server, ['core-1'], { show: 'show tables' });
          await add('strict', strict, ['old-1'], { timeout: 5000 });
          const node = await treeOf(service.ask, 'Switches', '<e/>ntp server 192.0.2.1\n{d/}ip http server');
          const nodes = [{ ...node, devices: [...names, 'core-1', 'old-1'] }];
          ok(await service.ask('POST', `${manager}/compliance_plans`, { name: 'Switches', nodes, throttle: 22 }));
          const { instanceId, batchId } = ok(
            await service.ask('POST', `${manager}/compliance_plans/run`, { planId: 'Switches' }),
          );
          const { status, variables } = await jobs.inState(instanceId, 'complete', 'error');
          const failed = [{ device: 'old-1', reason: 'Adapter "strict": there was no answer in time' }];
          assert.deepEqual([status, variables.failed], ['complete', failed]);
          const reports = ok(await service.ask('GET', `${manager}/compliance_reports/batch/${batchId}`));
          const found = new Map<string, any>(reports.map((report: any) => [report.deviceName, report]));
          for (const name of names)
            assert.deepEqual([found.get(name).totals.passes, found.get(name).grade], [2, 'pass']);
          const core = ok(await service.ask('GET', `${manager}/compliance_reports/details/${found.get('core-1').id}`));
          assert.deepEqual([core.status, core.configuration.lines, core.totals.errors], ['complete', 200_000, 1]);
          const { status: ofOld, grade } = found.get('old-1');
          assert.deepEqual([ofOld, grade], ['error', null]);
        });
      },
      expired,
    );
  },
  router,
);
