/* What kind of work an op does, by its code: for tables that add up kinds. Names of ops are tt-metal's, and those of
 * examples/; a name that is not here is "other". Not for what an op costs. */
#include <string.h>

#include "answers/sections.h"

/* The first part that the code contains decides; longer names stand before those inside them. */
static const struct {
    const char *part, *category;
} parts[] = {
    {"(torch)", "host"},
    {"AllGather", "collective"},
    {"ReduceScatter", "collective"},
    {"AllReduce", "collective"},
    {"AllToAll", "collective"},
    {"AllBroadcast", "collective"},
    {"ScaledDotProduct", "attention"},
    {"SDPA", "attention"},
    {"sdpa", "attention"},
    {"Attention", "attention"},
    {"NLPCreate", "attention"},
    {"NlpCreate", "attention"},
    {"NLPConcat", "attention"},
    {"NlpConcat", "attention"},
    {"RotaryEmbedding", "attention"},
    {"PagedUpdateCache", "attention"},
    {"UpdateCache", "attention"},
    {"Matmul", "matmul"},
    {"Linear", "matmul"},
    {"Conv", "convolution"},
    {"Halo", "convolution"},
    {"Pool", "pooling"},
    {"Softmax", "normalisation"},
    {"LayerNorm", "normalisation"},
    {"GroupNorm", "normalisation"},
    {"BatchNorm", "normalisation"},
    {"RMSNorm", "normalisation"},
    {"Norm", "normalisation"},
    {"Reduce", "reduction"},
    {"ArgMax", "reduction"},
    {"TopK", "reduction"},
    {"Embedding", "embedding"},
    {"embedding", "embedding"},
    {"Tilize", "layout"},
    {"Untilize", "layout"},
    {"Reshard", "layout"},
    {"InterleavedToSharded", "layout"},
    {"ShardedToInterleaved", "layout"},
    {"Transpose", "layout"},
    {"Permute", "layout"},
    {"Reshape", "layout"},
    {"Pad", "layout"},
    {"Slice", "layout"},
    {"Split", "layout"},
    {"Concat", "layout"},
    {"Repeat", "layout"},
    {"Move", "layout"},
    {"Copy", "layout"},
    {"Clone", "layout"},
    {"Typecast", "layout"},
    {"Fill", "layout"},
    {"Upsample", "layout"},
    {"GridSample", "layout"},
    {"Fold", "layout"},
    {"Binary", "elementwise"},
    {"Unary", "elementwise"},
    {"Ternary", "elementwise"},
    {"Eltwise", "elementwise"},
    {"Add", "elementwise"},
    {"Relu", "elementwise"},
    {"Gelu", "elementwise"},
};

const char *op_category(const char *code)
{
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strstr(code, parts[i].part)) return parts[i].category;
    return "other";
}
