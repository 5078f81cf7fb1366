// `npm run test:fast`: the decisions of every resource, the machinery, the conventions, and one resource over HTTP.
// A new test file runs here too. Tests called `... over HTTP` are left out by `grep` below. Add a file to this list if other
// tests in it start programs or whole services, or take long.
const notFast = `
  account activeProfile answers asOf asOfAnswers asOfCluster asOfMatrix asOfReplay asOfRights auditAfternoon auditFound
  auditIndex auditNodes leaders auditReading auditReadOnly auditRestore auditRestoreKills auditRestoreKinds auditVerify authenticate authorization automationImports
  automationRaces backup badEvents badEventsLive badSshServers badUpstreams candidates certificate claimRaces
  builtInCrashes builtInJobs builtInKills builtInLimits builtInNodes builtInRaces
  claimsCluster cli client compression deletedComponents demo deployment deviceCrash deviceGroupRaces documented eventRoles eventstoredb
  eventstoredbAppends eventstoredbConnection eventstoredbFaults eventstoredbFollow eventstoredbReads
  eventstoredbTampered eventStream eventTriggerCrashes eventTriggerKills eventTriggers eventTriggersCluster
  eventTriggersLive faults foreignDocuments foreignEvents foreignWrites grpcClients grpcHostile grpcReaders grpcServer hooks hostile hungDevices hostileServers
  importedSecrets inheritedNames jinjaLimits jinjaOracle jobChaos jobEnds jobRaces jobStream jsonataLimits keyCheck kill largePages
  life logCopy logCopyBytes logFaults logForget logFull loginFlood logIntegrity logShorter membership memory metrics
  migrate monitoring moving movingFull movingKills movingPast orderOfChecks package passwords pastThread payloads prebuiltRaces
  prebuiltRoundTrip prebuiltSize publishedPackages rawRequests readme rebuild rebuildKills rebuildLive redis redisLosses redisService referrers
  refusedRequests refusedTurns requestRecordKills requestRecords resourceRaces retirement retirementKills retirementNodes retries scheduledJobRaces
  scheduleFaketime scheduleKills
  scheduleLife scheduleMany scheduleRuns schemaSuite sealedPackages sealedVariables secretsKept servedLog
  sessionCrashes sessionRaces sessions severalNodes signing snapshots sqlite ssh starting strangers subscribing
  takenIds tampered timeLimits traceparent triggerForms triggersPage twoWriters verify work workers workersPage
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
