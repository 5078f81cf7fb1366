import { startService } from './service.ts';
it('smoke', async () => {
  const s = await startService();
  try {
    for (const [m, p, b] of [
      ['POST', '/operations-manager/automations', { name: 'Backup' }],
      ['GET', '/operations-manager/automations'],
      ['POST', '/configuration_manager/configs', { name: 'R' }],
    ] as const) { const r = await s.ask(m, p, b); console.log(r.status, r.text); }
  } finally { await s.stop(); }
});
