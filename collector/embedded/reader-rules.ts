import { DATABASE, INCIDENT_ORDERS } from '../../schemas/names.ts';

/** Categories of `system.functions` whose functions only compute. A category that a later engine adds is refused. */
export const computingCategories = [
  'Arithmetic', 'Arrays', 'Bit', 'Bitmap', 'Comparison', 'Conditional', 'Dates and Times', 'Distance', 'Encoding',
  'Financial', 'Geo', 'Geo Polygon', 'Hash', 'IP Address', 'JSON', 'Logical', 'Map', 'Mathematical', 'Null',
  'NumericIndexedVector', 'Random Number', 'Rounding', 'String', 'String Replacement', 'String Search',
  'String Splitting', 'Time Series', 'Time Window', 'Tuple', 'Type Conversion', 'URL', 'UUID',
] as const; // prettier-ignore

/** Functions of the category `Other` (and the like) that only compute or tell a client what it talks to. */
export const harmlessFunctions = [
  'MACNumToString', 'MACStringToNum', 'MACStringToOUI', '_CAST', 'authenticatedUser', 'bar', 'byteSize',
  'caseWithExpression', 'connectionId', 'countDigits', 'currentDatabase', 'currentRoles', 'currentSchemas', 'currentUser',
  'defaultValueOfArgumentType', 'defaultValueOfTypeName', 'digits', 'displayName', 'dumpColumnStructure',
  'errorCodeToName', 'finalizeAggregation', 'formatReadableDecimalSize', 'formatReadableQuantity', 'formatReadableSize',
  'formatReadableTimeDelta', 'getSizeOfEnumType', 'getSubcolumn', 'globalVariable', 'identity', 'ignore', 'indexHint',
  'initialQueryID', 'initializeAggregation', 'isConstant', 'isDecimalOverflow', 'lowCardinalityIndices',
  'lowCardinalityKeys', 'materialize', 'minSampleSizeContinuous', 'minSampleSizeConversion', 'neighbor',
  'normalizeQuery', 'normalizedQueryHash', 'parseReadableSize', 'parseReadableSizeOrNull', 'parseReadableSizeOrZero',
  'parseTimeDelta', 'queryID', 'revision', 'rowNumberInAllBlocks', 'rowNumberInBlock', 'runningAccumulate',
  'runningConcurrency', 'runningDifference', 'runningDifferenceStartingWithFirstValue', 'throwIf', 'toColumnTypeName',
  'toTypeName', 'transform', 'uptime', 'variantElement', 'variantType', 'version', 'visibleWidth',
] as const; // prettier-ignore

/** In a computing category, and yet not for the reader. */
export const harmfulFunctions = ['chdb', 'sleep', 'sleepEachRow', 'file'] as const;

/** Table functions that make rows of their own arguments; and the public view that takes parameters, which is called like one. */
export const readableTableFunctions = [
  'numbers',
  'numbers_mt',
  'generateseries',
  'generate_series',
  'values',
  'view',
  INCIDENT_ORDERS,
  `${DATABASE}.${INCIDENT_ORDERS}`,
];

/** First node of a statement that may pass. */
export const readableRoots = [
  'SelectWithUnionQuery', 'Explain', 'DescribeQuery', 'ShowTables', 'ShowColumns', 'ShowIndexes', 'ShowFunctions',
  'ShowCreateTableQuery', 'ShowCreateViewQuery', 'ShowCreateDatabaseQuery', 'ShowEngineQuery', 'ShowSetting',
  'ExistsTableQuery', 'ExistsViewQuery', 'ExistsDatabaseQuery',
] as const; // prettier-ignore

/**
 * Nodes that may occur below. Left out on purpose: ColumnsApplyTransformer, which does not show the function it applies,
 * and Set (a SETTINGS clause), which could raise limits in a subquery.
 */
export const readableNodes = [
  'ArrayJoin', 'Asterisk', 'ColumnsExceptTransformer', 'ColumnsListMatcher', 'ColumnsRegexpMatcher',
  'ColumnsReplaceTransformer', 'ColumnsReplaceTransformer::Replacement', 'ColumnsTransformerList', 'DataType',
  'EnumDataType', 'TupleDataType', 'ExpressionList', 'Function', 'Identifier', 'InterpolateElement', 'Literal',
  'NameTypePair', 'OrderByElement', 'QualifiedAsterisk', 'QualifiedColumnsListMatcher', 'QualifiedColumnsRegexpMatcher',
  'SampleRatio', 'SelectIntersectExceptQuery', 'SelectQuery', 'SelectWithUnionQuery', 'Subquery', 'TableExpression',
  'TableIdentifier', 'TableJoin', 'TablesInSelectQuery', 'TablesInSelectQueryElement', 'WindowDefinition',
  'WindowListElement', 'WithElement',
] as const; // prettier-ignore
