// GPT-2 folders of all versions of transformers (experiments/recipes/recurrence/README.md#hugging-faces-folders), made
// by transformers itself or like those of earlier versions. They are read with the losses that transformers computes.
#include <cmath>
#include <sstream>

#include <gmock/gmock.h>

#include "base/json.h"
#include "tests/datasets/tokens/bpe_files.h"
#include "tests/needs.h"
#include "tests/pipeline/pipeline_fixture.h"
#include "tests/readers.h"

namespace xlm {
namespace {

/// Makes folders below folders/ and prints {folder: loss}, in double precision, on the test split of `pairs`, whose
/// encoding is in `bpe`. Windows have 32 tokens and score all but the first.
constexpr const char* kFolders = R"python(
import copy, json, os, shutil
import torch
from safetensors.torch import load_file, save_file, save_model
from transformers import GPT2Config, GPT2LMHeadModel, GPT2Tokenizer

torch.manual_seed(5)
torch.set_num_threads(1)
symbols = len(json.load(open('pairs/vocab.json'))['symbols'])
raw = open('pairs/test.bin', 'rb').read()
width = 1 if symbols <= 256 else 2
ids = [int.from_bytes(raw[i:i + width], 'little') for i in range(0, len(raw), width)]
losses = {}


def loss(model, rows):
    model = copy.deepcopy(model).double().eval()
    whole = (len(ids) - 1) // 32
    nats = 0
    for begin, count, length in ((0, whole, 32), (whole * 32, 1, len(ids) - 1 - whole * 32)):
        if length == 0:
            continue
        tokens = torch.tensor(ids[begin:begin + count * length]).view(count, length)
        targets = torch.tensor(ids[begin + 1:begin + 1 + count * length]).view(count, length, 1)
        with torch.no_grad():
            scores = torch.log_softmax(model(tokens).logits[:, :, :rows], -1)
        nats -= scores.gather(2, targets).sum().item()
    return nats / (len(ids) - 1)


def small(**config):
    model = GPT2LMHeadModel(GPT2Config(vocab_size=symbols, n_positions=32, n_embd=16, n_layer=3, n_head=2, **config))
    for name, weight in model.named_parameters():
        torch.nn.init.normal_(weight, mean=1.0 if '.ln_' in name and name.endswith('weight') else 0.0, std=0.3)
    return model


def place(name):
    os.makedirs('folders/' + name)
    return 'folders/' + name


def keep(name, model, rows=symbols, **how):
    folder = place(name)
    model.save_pretrained(folder, **how)
    losses[name] = loss(model, rows)
    return folder


def again(name, source, change):
    """A copy of another folder whose tensors `change` gives other names or companions."""
    folder = place(name)
    shutil.copy('folders/' + source + '/config.json', folder)
    tensors = change(load_file('folders/' + source + '/model.safetensors'))
    save_file(tensors, folder + '/model.safetensors', metadata={'format': 'pt'})
    losses[name] = losses[source]


def with_prefix(prefix):
    return lambda tensors: {prefix + key: value for key, value in tensors.items()}


plain = small()
keep('plain', plain)
tokenizer = GPT2Tokenizer.from_pretrained('bpe')
for activation in ('gelu', 'relu', 'gelu_fast', 'gelu_pytorch_tanh', 'silu'):
    keep(activation, small(activation_function=activation))
keep('by_layer', small(scale_attn_by_inverse_layer_idx=True))
keep('unscaled', small(scale_attn_weights=False))
keep('by_layer_alone', small(scale_attn_weights=False, scale_attn_by_inverse_layer_idx=True))
keep('upcast', small(reorder_and_upcast_attn=True))
keep('untied', small(tie_word_embeddings=False))
keep('inner', small(n_inner=24, layer_norm_epsilon=1e-3))
keep('sharded', plain, max_shard_size='8KB')
half = copy.deepcopy(plain).half()
keep('half', half)
base = place('base')
plain.transformer.save_pretrained(base)
losses['base'] = losses['plain']

# transformers 2 to 4.30 saved masks, of bytes, then of booleans.
for name, dtype in (('masks_u8', torch.uint8), ('masks_bool', torch.bool), ('masks_half', torch.half),
                    ('masks_i64', torch.int64), ('masks_f8', torch.float8_e4m3fn)):
    def masks(tensors):
        for layer in range(3):
            tensors[f'transformer.h.{layer}.attn.bias'] = torch.ones(32, 32).tril().view(1, 1, 32, 32).to(dtype)
            tensors[f'transformer.h.{layer}.attn.masked_bias'] = torch.tensor(-1e4).to(dtype)
        return tensors
    again(name, 'plain', masks)

again('compiled', 'plain', with_prefix('_orig_mod.'))
again('parallel', 'plain', with_prefix('module._orig_mod.'))
again('layer_compiled', 'plain', lambda tensors: {key.replace('.attn.', '.attn._orig_mod.'): value
                                                  for key, value in tensors.items()})
again('both_names', 'plain', lambda tensors: tensors | {'lm_head.weight': tensors['transformer.wte.weight'].clone()})
head_alone = place('head_alone')
plain.config.save_pretrained(head_alone)
save_model(plain, head_alone + '/model.safetensors')
losses['head_alone'] = losses['plain']

# Names of GPT2Config's attribute_map.
names = place('other_names')
shutil.copy('folders/plain/model.safetensors', names)
config = json.load(open('folders/plain/config.json'))
for key, other in GPT2Config.attribute_map.items():
    config[key] = config.pop(other)
json.dump(config, open(names + '/config.json', 'w'))
losses['other_names'] = loss(GPT2LMHeadModel.from_pretrained(names), symbols)

# Rows without a symbol are not scored; added tokens are symbols.
padded = copy.deepcopy(plain)
padded.resize_token_embeddings(symbols + 1, pad_to_multiple_of=64)
keep('padded', padded)
padded.save_pretrained(place('padded_with_tokenizer'))
tokenizer.save_pretrained('folders/padded_with_tokenizer')
losses['padded_with_tokenizer'] = losses['padded']
tokenizer.save_pretrained(keep('tokenizer', plain))
added = GPT2Tokenizer.from_pretrained('bpe')
added.add_special_tokens({'pad_token': '[PAD]', 'additional_special_tokens': ['<sep>']})
more = copy.deepcopy(plain)
more.resize_token_embeddings(len(added))
torch.nn.init.normal_(more.get_input_embeddings().weight.data[symbols:])
added.save_pretrained(keep('added', more, rows=len(added)))
print(json.dumps(losses))
)python";

/// Prints the loss of the Llama in `folder`, and whether its tokenizer encodes as that of `bpe`. Windows have 32
/// inputs, the first of which is the vector that the model has for a beginning.
constexpr const char* kLlama = R"python(
from transformers import AutoModelForCausalLM, AutoTokenizer
model = AutoModelForCausalLM.from_pretrained(folder).double().eval()
beginning = load_file(folder + '/model.safetensors')['model.embed_beginning.weight'].double().view(1, 1, -1)
with torch.no_grad():
    nats = 0
    for begin in range(0, len(ids), 32):
        window = torch.tensor(ids[begin:begin + 32])
        inputs = torch.cat([beginning, model.get_input_embeddings()(window[None, :-1])], 1)
        nats += torch.nn.functional.cross_entropy(model(inputs_embeds=inputs).logits[0], window, reduction='sum').item()
print(nats / len(ids))
tokenizer = AutoTokenizer.from_pretrained(folder)
print(tokenizer.encode('a text that') == GPT2Tokenizer.from_pretrained('bpe').encode('a text that'))
)python";

class HuggingFace : public Pipeline {
 protected:
  void prepare_pairs() {
    write_small_bpe(folder_.path() / "bpe");
    ASSERT_EQ(
        xlm({"prepare-data", "text", "--from", "corpus.txt", "--unit", "bpe", "--bpe", "bpe", "--out", "pairs"}).code,
        0);
  }

  static std::string made(const std::string& name) { return "folders/" + name; }

  double own_loss(const std::string& model, const std::vector<std::string>& settings = {}) {
    std::vector<std::string> words{"eval", model, "--data", "pairs", "--json"};
    words.insert(words.end(), settings.begin(), settings.end());
    const ProgramResult result = xlm(words);
    EXPECT_EQ(result.code, 0) << model << ": " << result.err;
    const bool pads = model.starts_with(made("padded"));
    EXPECT_EQ(result.err.find("rows of embeddings in") != std::string::npos, pads) << result.err;
    return result.code == 0 ? parse_json(result.out, model).at("loss").get<double>() : NAN;
  }

  /// tokenizer.json alone encodes texts and a prompt as the older files do.
  void expect_encodes(const std::string& folder) {
    ASSERT_FALSE(fs::exists(folder_.path() / folder / "merges.txt")) << "transformers 5 writes tokenizer.json alone";
    ASSERT_EQ(
        xlm({"prepare-data", "text", "--from", "corpus.txt", "--unit", "bpe", "--bpe", folder, "--out", "again"}).code,
        0);
    EXPECT_EQ(sha256_file(folder_.path() / "again/train.bin"), sha256_file(folder_.path() / "pairs/train.bin"));
    EXPECT_EQ(sha256_file(folder_.path() / "again/vocab.json"), sha256_file(folder_.path() / "pairs/vocab.json"));
    const ProgramResult sample = xlm({"sample", folder, "--prompt", "a text that", "--tokens", "5"});
    EXPECT_EQ(sample.code, 0) << sample.err;
    EXPECT_THAT(sample.out, ::testing::StartsWith("a text that"));
    EXPECT_EQ(xlm({"sample", made("added"), "--prompt", "a text", "--tokens", "2", "--temperature", "0"}).code, 0);
  }

  /// A model that is trained from a folder keeps the folder's special settings, here and in transformers.
  void expect_trains(const std::vector<std::string>& names) {
    std::string read = std::string(kFolders).substr(0, std::string(kFolders).find("def place"));
    std::vector<double> ours;
    for (const std::string& name : names) {
      write_file(folder_.path() / "from.yaml",
                 "data: {path: pairs}\ndevice: cpu\nmodel: {type: gpt2, pretrained: " + made(name) +
                     ", windows: 2}\ntrain: {steps: 2, batch: 2, threads: 1}\n");
      ASSERT_EQ(xlm({"train", "from.yaml", "--runs", "runs-" + name}).code, 0);
      const std::string model = (run_folder("runs-" + name) / "model").string();
      ours.push_back(own_loss(model));
      read += "print(loss(GPT2LMHeadModel.from_pretrained('" + model + "'), symbols))\n";
    }
    std::istringstream theirs(read_with_python(folder_.path(), read));
    for (const double own : ours) {
      double loss = 0;
      theirs >> loss;
      EXPECT_NEAR(loss, own, kTolerance * own);
    }
  }

  /// What `read`, behind the functions of kFolders, prints in Python.
  std::string seen_by_transformers(const std::string& read) const {
    return read_with_python(folder_.path(),
                            std::string(kFolders).substr(0, std::string(kFolders).find("def small")) + read);
  }

  /// The error of float32 sums in another order. GELU's two formulas differ by ten times as much.
  static constexpr double kTolerance = 5e-7;
};

TEST_F(HuggingFace, FoldersOfEveryKindHaveTheLossOfTransformers) {
  if (!readers_are_installed()) GTEST_SKIP() << needs::kReaders;
  if (!python_opens_torch()) GTEST_SKIP() << needs::kCuda;
  prepare_pairs();
  const Json losses = Json::parse(read_with_python(folder_.path(), kFolders));
  EXPECT_GT(losses.size(), 25U);
  for (const auto& [name, loss] : losses.items()) {
    EXPECT_NEAR(own_loss(made(name)), loss.get<double>(), kTolerance * loss.get<double>()) << name;
  }
  EXPECT_GT(std::abs(losses["plain"].get<double>() - losses["added"].get<double>()), 1e-3) << "added tokens are scored";
  expect_encodes(made("tokenizer"));
  expect_trains({"relu", "by_layer", "unscaled"});
}

TEST_F(HuggingFace, ALlamaWithAnEpsilonOfItsOwnIsTheSameInTransformersWithItsTokenizer) {
  if (!readers_are_installed()) GTEST_SKIP() << needs::kReaders;
  if (!python_opens_torch()) GTEST_SKIP() << needs::kCuda;
  prepare_pairs();
  write_file(folder_.path() / "llama.yaml",
             "data: {path: pairs}\ndevice: cpu\ntrain: {steps: 2, batch: 2, block: 32, threads: 1}\n"
             "model: {type: transformer, norm: rms, rotary: halves, activation: swiglu, "
             "width: 16, head_width: 8, layers: 2, norm_epsilon: 0.01}\n");
  ASSERT_EQ(xlm({"train", "llama.yaml", "--runs", "llamas"}).code, 0);
  const std::string model = (run_folder("llamas") / "model").string();
  EXPECT_THAT(read_file(fs::path(model) / "README.md"), ::testing::HasSubstr("import LlamaForCausalLM"));
  std::istringstream theirs(seen_by_transformers("folder = '" + model + "'\n" + kLlama));
  double loss = 0;
  std::string same;
  theirs >> loss >> same;
  EXPECT_NEAR(own_loss(model, {"eval.context=32", "eval.stride=32"}), loss, kTolerance * loss);
  EXPECT_EQ(same, "True");
}

}  // namespace
}  // namespace xlm
