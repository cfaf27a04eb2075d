/** Functions that serve one purpose, and why a reader needs them. */
export interface AllowedNames {
  readonly reason: string;
  readonly names: readonly string[];
}

const words = (text: string): string[] => text.trim().split(/\s+/);

/**
 * Every function that a reader may call. What is not here is refused, also what a later engine adds. Left out
 * on purpose:
 *
 * - what reads, writes or asks for anything but its arguments: `file`, `url`, `dictGet`, `joinGet`,
 *   `getSetting`, `catboostEvaluate`, `ai...`, `showCertificate`;
 * - what runs a format or a statement given as text: `formatRow`, `groupFormat`, `formatQuery`, `chdb`,
 *   `eval`;
 * - what takes more than linear time for one value, which no time limit of the engine interrupts:
 *   `base58Encode`, `editDistance`, `arrayFold`, polygons, patterns of hyperscan;
 * - what waits: `sleep`.
 *
 * Aliases of a listed function are allowed with it, and so are its aggregate combinators (`sumIf`,
 * `uniqExactMerge`).
 */
export const allowedFunctions: readonly AllowedNames[] = [
  {
    reason: 'Counts and sums: every panel, rule and report.',
    names: words(`
      count sum sumWithOverflow sumKahan sumCount avg avgWeighted min max any anyLast anyHeavy any_respect_nulls
      anyLast_respect_nulls argMin argMax argAndMin argAndMax uniq uniqExact uniqCombined uniqCombined64 uniqHLL12
      uniqUpTo singleValueOrNull nothing nothingNull nothingUInt64
    `),
  },
  {
    reason: 'Percentiles of durations and amounts.',
    names: words(`
      quantile quantiles quantileBFloat16 quantilesBFloat16 quantileDD quantilesDD quantileDeterministic
      quantilesDeterministic quantileExact quantilesExact quantileExactExclusive quantilesExactExclusive
      quantileExactHigh quantilesExactHigh quantileExactInclusive quantilesExactInclusive quantileExactLow
      quantilesExactLow quantileExactWeighted quantilesExactWeighted quantileExactWeightedInterpolated
      quantilesExactWeightedInterpolated quantileGK quantilesGK quantileInterpolatedWeighted
      quantilesInterpolatedWeighted quantileTDigest quantilesTDigest quantileTDigestWeighted quantilesTDigestWeighted
      quantileTiming quantilesTiming quantileTimingWeighted quantilesTimingWeighted histogram
    `),
  },
  {
    reason: 'Statistics over samples: spread, correlation, trend.',
    names: words(`
      stddevPop stddevPopStable stddevSamp stddevSampStable varPop varPopStable varSamp varSampStable covarPop
      covarPopStable covarSamp covarSampStable corr corrStable skewPop skewSamp kurtPop kurtSamp entropy
      simpleLinearRegression exponentialMovingAverage boundingRatio deltaSum deltaSumTimestamp
    `),
  },
  {
    reason: 'Collecting values of a group: labels, examples, sets.',
    names: words(`
      groupArray groupArrayLast groupArraySample groupArraySorted groupArrayMovingAvg groupArrayMovingSum
      groupArrayIntersect groupUniqArray groupConcat groupBitAnd groupBitOr groupBitXor groupBitmap groupBitmapAnd
      groupBitmapOr groupBitmapXor topK topKWeighted approx_top_k approx_top_sum sumMapWithOverflow sumMappedArrays
      minMappedArrays maxMappedArrays sumMapFiltered sparkbar largestTriangleThreeBuckets distinctDynamicTypes
      distinctJSONPaths distinctJSONPathsAndTypes
    `),
  },
  {
    reason: 'Funnels and sequences of events of one order.',
    names: words(`
      windowFunnel retention sequenceMatch sequenceCount sequenceMatchEvents sequenceNextNode maxIntersections
      maxIntersectionsPosition intervalLengthSum
    `),
  },
  {
    reason: 'Functions over windows: the row before, ranks, running values.',
    names: words(`
      row_number rank denseRank percentRank cume_dist ntile lag lead lagInFrame leadInFrame nth_value
      nonNegativeDerivative runningDifference runningDifferenceStartingWithFirstValue runningAccumulate
      runningConcurrency neighbor rowNumberInBlock rowNumberInAllBlocks
    `),
  },
  {
    reason: 'Numbers: arithmetic, rounding, mathematics.',
    names: words(`
      abs avg2 byteSwap divide divideDecimal divideOrNull gcd ifNotFinite intDiv intDivOrNull intDivOrZero isFinite
      isInfinite isNaN lcm max2 midpoint min2 minus modulo moduloOrNull moduloOrZero multiply multiplyDecimal negate
      plus positiveModulo positiveModuloOrNull sqr ceil floor round roundBankers roundDown roundToExp2 roundDuration
      trunc acos acosh asin asinh atan atan2 atanh cbrt cos cosh degrees e erf erfc exp exp10 exp2 hypot intExp10
      intExp2 lgamma log log10 log1p log2 pi pow radians sigmoid sign sin sinh sqrt tan tanh tgamma widthBucket
      isDecimalOverflow countDigits digits
    `),
  },
  {
    reason: 'Bits and bitmaps.',
    names: words(`
      bitAnd bitCount bitHammingDistance byteHammingDistance bitNot bitOr bitRotateLeft bitRotateRight bitShiftLeft bitShiftRight bitSlice
      bitTest bitTestAll bitTestAny bitXor bitmapAnd bitmapAndCardinality bitmapAndnot bitmapAndnotCardinality
      bitmapBuild bitmapCardinality bitmapContains bitmapHasAll bitmapHasAny bitmapMax bitmapMin bitmapOr
      bitmapOrCardinality bitmapToArray bitmapXor bitmapXorCardinality bitmaskToArray bitmaskToList
      bitPositionsToArray
    `),
  },
  {
    reason: 'Comparing and choosing.',
    names: words(`
      equals notEquals less lessOrEquals greater greaterOrEquals isDistinctFrom isNotDistinctFrom in notIn nullIn
      notNullIn globalIn globalNotIn globalNullIn globalNotNullIn and or not xor if multiIf caseWithExpression clamp
      greatest least transform exists assumeNotNull coalesce firstNonDefault ifNull isNotNull isNull isNullable
      isZeroOrNull nullIf toNullable
    `),
  },
  {
    reason: 'Times and dates: every panel is over time.',
    names: words(`
      UTCTimestamp YYYYMMDDToDate YYYYMMDDToDate32 YYYYMMDDhhmmssToDateTime YYYYMMDDhhmmssToDateTime64 addDate addDays
      addHours addInterval addMicroseconds addMilliseconds addMinutes addMonths addNanoseconds addQuarters addSeconds
      addTupleOfIntervals addWeeks addYears age changeDay changeHour changeMinute changeMonth changeSecond changeYear
      dateDiff dateName dateTrunc formatDateTime formatDateTimeInJodaSyntax fromDaysSinceYearZero
      fromDaysSinceYearZero32 fromModifiedJulianDay fromModifiedJulianDayOrNull fromUTCTimestamp fromUnixTimestamp
      fromUnixTimestampInJodaSyntax localtime makeDate makeDate32 makeDateTime makeDateTime64 monthName now now64
      nowInBlock nowInBlock64 serverTimezone subDate subtractDays subtractHours subtractInterval subtractMicroseconds
      subtractMilliseconds subtractMinutes subtractMonths subtractNanoseconds subtractQuarters subtractSeconds
      subtractTupleOfIntervals subtractWeeks subtractYears timeDiff timeSlot timeSlots timestamp timezone timezoneOf
      timezoneOffset toDayOfMonth toDayOfWeek toDayOfYear toDaysInMonth toDaysSinceYearZero toHour toISOWeek toISOYear
      toLastDayOfMonth toLastDayOfWeek toMicrosecond toMillisecond toMinute toModifiedJulianDay
      toModifiedJulianDayOrNull toMonday toMonth toMonthNumSinceEpoch toNanosecond toQuarter toRelativeDayNum
      toRelativeHourNum toRelativeMinuteNum toRelativeMonthNum toRelativeQuarterNum toRelativeSecondNum
      toRelativeWeekNum toRelativeYearNum toSecond toStartOfDay toStartOfFifteenMinutes toStartOfFiveMinutes
      toStartOfHour toStartOfISOYear toStartOfInterval toStartOfMicrosecond toStartOfMillisecond toStartOfMinute
      toStartOfMonth toStartOfNanosecond toStartOfQuarter toStartOfSecond toStartOfTenMinutes toStartOfWeek
      toStartOfYear toTimeWithFixedDate toTimezone toUTCTimestamp toUnixTimestamp toWeek toYYYYMM toYYYYMMDD
      toYYYYMMDDhhmmss toYear toYearNumSinceEpoch toYearWeek today yesterday hop hopEnd hopStart tumble tumbleEnd
      tumbleStart windowID fromUnixTimestamp64Micro fromUnixTimestamp64Milli fromUnixTimestamp64Nano
      fromUnixTimestamp64Second toUnixTimestamp64Micro toUnixTimestamp64Milli toUnixTimestamp64Nano
      toUnixTimestamp64Second UUIDv7ToDateTime snowflakeIDToDateTime snowflakeIDToDateTime64 parseTimeDelta
      toInterval toIntervalDay toIntervalHour toIntervalMicrosecond toIntervalMillisecond toIntervalMinute
      toIntervalMonth toIntervalNanosecond toIntervalQuarter toIntervalSecond toIntervalWeek toIntervalYear
    `),
  },
  {
    reason: 'Converting between types, with and without a value for what does not fit.',
    names: words(`
      CAST _CAST DATE accurateCast accurateCastOrDefault accurateCastOrNull toBool toString toStringCutToZero
      toFixedString toLowCardinality toDecimalString materialize toUUID toUUIDOrZero toUUIDOrDefault toUUIDOrNull
      toBFloat16 toBFloat16OrNull toBFloat16OrZero toFloat32 toFloat32OrDefault toFloat32OrNull toFloat32OrZero
      toFloat64 toFloat64OrDefault toFloat64OrNull toFloat64OrZero toInt8 toInt8OrDefault toInt8OrNull toInt8OrZero
      toInt16 toInt16OrDefault toInt16OrNull toInt16OrZero toInt32 toInt32OrDefault toInt32OrNull toInt32OrZero toInt64
      toInt64OrDefault toInt64OrNull toInt64OrZero toInt128 toInt128OrDefault toInt128OrNull toInt128OrZero toInt256
      toInt256OrDefault toInt256OrNull toInt256OrZero toUInt8 toUInt8OrDefault toUInt8OrNull toUInt8OrZero toUInt16
      toUInt16OrDefault toUInt16OrNull toUInt16OrZero toUInt32 toUInt32OrDefault toUInt32OrNull toUInt32OrZero toUInt64
      toUInt64OrDefault toUInt64OrNull toUInt64OrZero toUInt128 toUInt128OrDefault toUInt128OrNull toUInt128OrZero
      toUInt256 toUInt256OrDefault toUInt256OrNull toUInt256OrZero toDecimal32 toDecimal32OrDefault toDecimal32OrNull
      toDecimal32OrZero toDecimal64 toDecimal64OrDefault toDecimal64OrNull toDecimal64OrZero toDecimal128
      toDecimal128OrDefault toDecimal128OrNull toDecimal128OrZero toDecimal256 toDecimal256OrDefault
      toDecimal256OrNull toDecimal256OrZero toDate toDateOrDefault toDateOrNull toDateOrZero toDate32
      toDate32OrDefault toDate32OrNull toDate32OrZero toDateTime toDateTimeOrDefault toDateTimeOrNull toDateTimeOrZero
      toDateTime32 toDateTime64 toDateTime64OrDefault toDateTime64OrNull toDateTime64OrZero toTime toTimeOrNull
      toTimeOrZero toTime64 toTime64OrNull toTime64OrZero parseDateTime parseDateTimeOrNull parseDateTimeOrZero
      parseDateTime64 parseDateTime64OrNull parseDateTime64OrZero parseDateTimeBestEffort parseDateTimeBestEffortOrNull
      parseDateTimeBestEffortOrZero parseDateTimeBestEffortUS parseDateTimeBestEffortUSOrNull
      parseDateTimeBestEffortUSOrZero parseDateTime32BestEffort parseDateTime32BestEffortOrNull
      parseDateTime32BestEffortOrZero parseDateTime64BestEffort parseDateTime64BestEffortOrNull
      parseDateTime64BestEffortOrZero parseDateTime64BestEffortUS parseDateTime64BestEffortUSOrNull
      parseDateTime64BestEffortUSOrZero parseDateTimeInJodaSyntax parseDateTimeInJodaSyntaxOrNull
      parseDateTimeInJodaSyntaxOrZero reinterpret reinterpretAsDate reinterpretAsDateTime reinterpretAsFixedString
      reinterpretAsFloat32 reinterpretAsFloat64 reinterpretAsInt8 reinterpretAsInt16 reinterpretAsInt32
      reinterpretAsInt64 reinterpretAsInt128 reinterpretAsInt256 reinterpretAsUInt8 reinterpretAsUInt16
      reinterpretAsUInt32 reinterpretAsUInt64 reinterpretAsUInt128 reinterpretAsUInt256 reinterpretAsString
      reinterpretAsUUID UUIDNumToString UUIDStringToNum UUIDToNum parseReadableSize parseReadableSizeOrNull
      parseReadableSizeOrZero
    `),
  },
  {
    reason: 'Texts: cutting, joining, searching, replacing.',
    names: words(`
      appendTrailingCharIfAbsent ascii basename caseFoldUTF8 char compareSubstrings concat concatAssumeInjective
      concatWithSeparator concatWithSeparatorAssumeInjective conv decodeHTMLComponent decodeXMLComponent
      encodeXMLComponent endsWith endsWithCaseInsensitive endsWithCaseInsensitiveUTF8 endsWithUTF8 firstLine initcap
      initcapUTF8 isValidASCII isValidUTF8 left leftPad leftPadUTF8 leftUTF8 length lengthUTF8 lower lowerUTF8
      normalizeUTF8NFC normalizeUTF8NFD normalizeUTF8NFKC normalizeUTF8NFKD regexpExtract regexpPosition repeat
      reverseUTF8 right rightPad rightPadUTF8 rightUTF8 space startsWith startsWithCaseInsensitive
      startsWithCaseInsensitiveUTF8 startsWithUTF8 substring substringIndex substringIndexUTF8 substringUTF8
      toValidUTF8 trimBoth trimLeft trimRight upper upperUTF8 format overlay overlayUTF8 printf regexpQuoteMeta
      replaceAll replaceOne replaceRegexpAll replaceRegexpOne translate translateUTF8 countMatches
      countMatchesCaseInsensitive countSubstrings countSubstringsCaseInsensitive countSubstringsCaseInsensitiveUTF8
      extract extractAll extractAllGroupsHorizontal extractAllGroupsVertical extractGroups hasSubsequence
      hasSubsequenceCaseInsensitive hasSubsequenceCaseInsensitiveUTF8 hasSubsequenceUTF8 hasToken
      hasTokenCaseInsensitive hasTokenCaseInsensitiveOrNull hasTokenOrNull ilike like locate match
      multiSearchAllPositions multiSearchAllPositionsCaseInsensitive multiSearchAllPositionsCaseInsensitiveUTF8
      multiSearchAllPositionsUTF8 multiSearchAny multiSearchAnyCaseInsensitive multiSearchAnyCaseInsensitiveUTF8
      multiSearchAnyUTF8 multiSearchFirstIndex multiSearchFirstIndexCaseInsensitive
      multiSearchFirstIndexCaseInsensitiveUTF8 multiSearchFirstIndexUTF8 multiSearchFirstPosition
      multiSearchFirstPositionCaseInsensitive multiSearchFirstPositionCaseInsensitiveUTF8
      multiSearchFirstPositionUTF8 notILike notLike position positionCaseInsensitive positionCaseInsensitiveUTF8
      positionUTF8 alphaTokens arrayStringConcat ngrams reverseBySeparator splitByChar splitByNonAlpha splitByRegexp
      splitByString splitByWhitespace tokens bar formatReadableDecimalSize formatReadableQuantity formatReadableSize
      formatReadableTimeDelta visibleWidth
    `),
  },
  {
    reason: 'Encodings and checksums: trace and span ids are hashes that analysts compute themselves.',
    names: words(`
      bin unbin hex unhex base32Decode base32Encode base64Decode base64Encode base64URLDecode base64URLEncode
      tryBase32Decode tryBase64Decode tryBase64URLDecode CRC32 CRC32IEEE CRC64 MD5 SHA1 SHA224 SHA256 SHA384 SHA512
      cityHash64 farmHash64 farmFingerprint64 halfMD5 intHash32 intHash64 javaHash kafkaMurmurHash metroHash64
      murmurHash2_32 murmurHash2_64 murmurHash3_32 murmurHash3_64 murmurHash3_128 sipHash64 sipHash128 xxHash32
      xxHash64 xxh3 jumpConsistentHash
    `),
  },
  {
    reason: 'Arrays, maps and tuples: evidence, labels and lists in columns.',
    names: words(`
      array arrayAll arrayAvg arrayBottomK arrayCompact arrayConcat arrayCount arrayCumSum arrayCumSumNonNegative
      arrayDifference arrayDistinct arrayDotProduct arrayElement arrayElementOrNull arrayEnumerate arrayEnumerateDense
      arrayEnumerateDenseRanked arrayEnumerateUniq arrayEnumerateUniqRanked arrayExcept arrayExists arrayFill
      arrayFilter arrayFirst arrayFirstIndex arrayFirstOrNull arrayFlatten arrayIntersect arrayJaccardIndex arrayJoin
      arrayLast arrayLastIndex arrayLastOrNull arrayMap arrayMax arrayMin arrayPartialReverseSort arrayPartialSort
      arrayPopBack arrayPopFront arrayProduct arrayPushBack arrayPushFront arrayReduce arrayRemove arrayResize
      arrayReverse arrayReverseFill arrayReverseSort arrayReverseSplit arrayRotateLeft arrayRotateRight arrayShiftLeft
      arrayShiftRight arraySlice arraySort arraySplit arraySum arraySymmetricDifference arrayTopK arrayUnion arrayUniq
      arrayWithConstant arrayZip arrayZipUnaligned countEqual empty emptyArrayDate emptyArrayDateTime
      emptyArrayFloat32 emptyArrayFloat64 emptyArrayInt8 emptyArrayInt16 emptyArrayInt32 emptyArrayInt64
      emptyArrayString emptyArrayToSingle emptyArrayUInt8 emptyArrayUInt16 emptyArrayUInt32 emptyArrayUInt64 has
      hasAll hasAny hasSubstr indexOf indexOfAssumeSorted notEmpty range replicate reverse map mapAdd mapAll mapApply
      mapConcat mapContainsKey mapContainsKeyLike mapContainsValue mapContainsValueLike mapExists mapExtractKeyLike
      mapExtractValueLike mapFilter mapFromArrays mapKeys mapPopulateSeries mapReverseSort mapSort mapSubtract
      mapUpdate mapValues extractKeyValuePairs tuple tupleConcat tupleDivide tupleDivideByNumber tupleElement
      tupleMinus tupleMultiply tupleMultiplyByNumber tupleNames tupleNegate tuplePlus tupleToNameValuePairs
      flattenTuple untuple nested
    `),
  },
  {
    reason: 'JSON texts and columns.',
    names: words(`
      JSONAllPaths JSONAllPathsWithTypes JSONArrayLength JSONExtract JSONExtractArrayRaw JSONExtractBool
      JSONExtractFloat JSONExtractInt JSONExtractKeys JSONExtractKeysAndValues JSONExtractKeysAndValuesRaw
      JSONExtractRaw JSONExtractString JSONExtractUInt JSONHas JSONKey JSONLength JSONType JSON_EXISTS JSON_QUERY
      JSON_VALUE isValidJSON simpleJSONExtractBool simpleJSONExtractFloat simpleJSONExtractInt simpleJSONExtractRaw
      simpleJSONExtractString simpleJSONExtractUInt simpleJSONHas toJSONString dynamicElement dynamicType
      variantElement variantType
    `),
  },
  {
    reason: 'Addresses in texts.',
    names: words(`
      domain domainWithoutWWW topLevelDomain protocol port path pathFull queryString fragment cutQueryString
      cutFragment cutQueryStringAndFragment cutURLParameter cutWWW extractURLParameter extractURLParameterNames
      extractURLParameters decodeURLComponent encodeURLComponent IPv4NumToString IPv4StringToNum
      IPv4StringToNumOrDefault IPv4StringToNumOrNull IPv4ToIPv6 IPv6NumToString IPv6StringToNum
      IPv6StringToNumOrDefault IPv6StringToNumOrNull IPv4CIDRToRange IPv6CIDRToRange isIPAddressInRange isIPv4String
      isIPv6String toIPv4 toIPv4OrDefault toIPv4OrNull toIPv4OrZero toIPv6 toIPv6OrDefault toIPv6OrNull toIPv6OrZero
    `),
  },
  {
    reason: 'Random numbers and ids: samples of large results.',
    names: words('rand rand64 randCanonical randConstant randUniform generateUUIDv4 generateUUIDv7'),
  },
  {
    reason: 'What clients and BI tools ask to know what they talk to.',
    names: words(`
      version revision uptime displayName currentDatabase currentSchemas currentUser currentRoles
      toTypeName toColumnTypeName byteSize isConstant dumpColumnStructure defaultValueOfTypeName
      defaultValueOfArgumentType errorCodeToName
    `),
  },
  {
    reason: 'Helpers of analysts: states of aggregates, checks, hints to the optimizer.',
    names: words(`
      finalizeAggregation initializeAggregation throwIf identity ignore indexHint blockNumber blockSize
      lowCardinalityIndices lowCardinalityKeys minSampleSizeContinuous minSampleSizeConversion normalizedQueryHash
      getSizeOfEnumType
    `),
  },
];

/** Suffixes that make other aggregates of one: `sumIf`, `uniqExactMergeIf`. */
export const aggregateCombinators: readonly string[] = [
  'If', 'Array', 'Map', 'SimpleState', 'State', 'Merge', 'MergeState', 'ForEach', 'Distinct', 'OrDefault', 'OrNull',
  'Resample', 'ArgMin', 'ArgMax', 'Null', 'Tuple',
]; // prettier-ignore
