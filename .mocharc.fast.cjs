// `npm run test:fast`: the decisions of every resource, the machinery, the conventions, and one resource over HTTP.
// A new test file runs here too. Tests called `... over HTTP` are left out by `grep` below. Add a file to this list if other
// tests in it start programs or whole services, or take long.
const notFast = `
  account activeProfile answers authenticate authorization automationImports automationRaces backup badEvents
  badEventsLive badSshServers badUpstreams certificate compression demo deployment deviceCrash deviceGroupRaces
  documented eventstoredb eventstoredbAppends eventstoredbConnection eventstoredbFaults eventstoredbFollow
  eventstoredbReads eventstoredbTampered faults foreignDocuments foreignWrites grpcClients grpcHostile grpcServer hooks hostile
  importedSecrets inheritedNames jinjaLimits jinjaOracle jobRaces keyCheck kill largePages life logCopy logCopyBytes
  logFaults logFull logIntegrity logShorter loginFlood membership memory metrics migrate monitoring orderOfChecks passwords
  payloads prebuiltRaces prebuiltRoundTrip prebuiltSize rawRequests readme rebuild redis redisLosses redisService
  referrers refusedRequests refusedTurns resourceRaces retries scheduledJobRaces schemaSuite sealedPackages
  sealedVariables secretsKept servedLog sessionCrashes sessionRaces sessions severalNodes snapshots sqlite ssh
  starting strangers tampered traceparent triggerForms twoWriters
`;

module.exports = {
  ...require('./.mocharc.json'),
  spec: ['test/*.test.ts'],
  ignore: notFast
    .trim()
    .split(/\s+/)
    .map((name) => `test/${name}.test.ts`),
  // Tests over HTTP start a service. Group mappings stand for all of them.
  grep: '/^(?!group mappings).* over HTTP|^(command|analytic) templates /',
  invert: true,
};
